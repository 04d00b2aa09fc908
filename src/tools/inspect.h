// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect`: reads the files of a stopped server, or a copy of them, written by drover or by Apache
// ZooKeeper. docs/inspect.md shows each command.
#pragma once

#include <string>
#include <vector>

namespace drover::tools {

// Takes the arguments after `inspect`. Returns the exit code: 0 fine, 1 bad data, 2 usage.
int run_inspect(const std::vector<std::string>& arguments);

}  // namespace drover::tools
