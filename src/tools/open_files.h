// SPDX-License-Identifier: Apache-2.0
//
// Finds processes that have a file of a directory open. Apache ZooKeeper does not lock its data directory, so
// this is the only way to notice a running server.
#pragma once

#include <string>

namespace drover::tools {

// "process 4711 has log.1 open", or "" if /proc shows none. Only root sees other users'
// processes.
std::string user_of_directory(const std::string& directory);

}  // namespace drover::tools
