// SPDX-License-Identifier: Apache-2.0
//
// `drover cli`: ZooKeeper's shell. One command from its arguments, or line after line from a terminal or a
// pipe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

// The words behind `drover cli`; the exit code: 0, 1 when the last command failed, 127 when it is unknown.
int run_shell(const std::vector<std::string>& arguments);

}  // namespace drover::cli
