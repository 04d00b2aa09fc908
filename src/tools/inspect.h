// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect`: looks at the files of a server that is not running, or of a copy of them; drover's and
// Apache ZooKeeper's alike. docs/inspect.md shows each command.
#pragma once

#include <string>
#include <vector>

namespace drover::tools {

// Of the words behind `inspect`. The exit code: 0 fine, 1 something is wrong with the data, 2 usage.
int run_inspect(const std::vector<std::string>& arguments);

}  // namespace drover::tools
