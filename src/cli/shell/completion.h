// SPDX-License-Identifier: Apache-2.0
//
// Completes a line: commands, flags and paths.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

struct Completions {
  std::string typed;               // the word so far
  std::vector<std::string> words;  // candidates, sorted
  // The common prefix that can be added.
  std::string common_rest() const;
};

// `list` returns the children of a path.
Completions complete(std::string_view line,
                     const std::function<std::vector<std::string>(const std::string&)>& list);

}  // namespace drover::cli
