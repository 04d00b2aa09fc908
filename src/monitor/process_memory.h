// SPDX-License-Identifier: Apache-2.0
//
// How much memory this process may use: the machine's, or less where a container or service manager says so.
#pragma once

#include <cstdint>

namespace drover::server {

struct ProcessMemory {
  std::uint64_t limit_bytes = 0;  // altogether
  std::uint64_t free_bytes = 0;   // before something has to give way
};

// Reads /proc and, where control groups (version 2) limit this process, /sys/fs/cgroup.
ProcessMemory process_memory();

}  // namespace drover::server
