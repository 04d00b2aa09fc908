// SPDX-License-Identifier: Apache-2.0
//
// `drover cli`: ZooKeeper's shell. One command from its arguments, or line after line from a terminal or a
// pipe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

// Takes the arguments after `drover cli`. Returns the exit code: 0, 1 (command failed) or 127 (unknown).
int run_shell(const std::vector<std::string>& arguments);

}  // namespace drover::cli
