// SPDX-License-Identifier: Apache-2.0
//
// What may come next in a line that is being typed: a command, one of its flags, or a path.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

struct Completions {
  std::string typed;               // the word so far
  std::vector<std::string> words;  // what it may become, sorted
  // What can be added whichever of them is meant.
  std::string common_rest() const;
};

// `list` gives the names below a path, or none.
Completions complete(std::string_view line,
                     const std::function<std::vector<std::string>(const std::string&)>& list);

}  // namespace drover::cli
