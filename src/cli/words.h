// SPDX-License-Identifier: Apache-2.0
//
// A line of the shell as words, split where ZooKeeper's shell splits it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

// 'one word' and "one word"; there is no escape. A quote that is never closed, or that stands inside a word,
// is not special: a"b c" is two words. A line of blanks is one word, a blank: ZooKeeper's shell looks for a
// command of that name too.
std::vector<std::string> split_words(std::string_view line);

}  // namespace drover::cli
