// SPDX-License-Identifier: Apache-2.0
//
// Splits a line into words as ZooKeeper's shell does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

// 'one word' and "one word" are one word; there is no escape. A quote that is not closed or is inside a word
// is an ordinary character: a"b c" is two words. A blank line is one word, a blank, because ZooKeeper's shell
// looks for a command of that name, too.
std::vector<std::string> split_words(std::string_view line);

}  // namespace drover::cli
