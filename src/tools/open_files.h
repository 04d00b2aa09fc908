// SPDX-License-Identifier: Apache-2.0
//
// Who has a file of a directory open? Apache ZooKeeper takes no lock on its data, so this is the only way to
// notice that one is running.
#pragma once

#include <string>

namespace drover::tools {

// "process 4711 has log.1 open", or "" as far as /proc shows: other users' processes are hidden from all but
// root.
std::string user_of_directory(const std::string& directory);

}  // namespace drover::tools
