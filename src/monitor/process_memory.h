// SPDX-License-Identifier: Apache-2.0
//
// How much memory this process may use: the machine's, or less if a container or service manager limits it.
#pragma once

#include <cstdint>

namespace drover::server {

struct ProcessMemory {
  std::uint64_t limit_bytes = 0;  // in total
  std::uint64_t free_bytes = 0;   // still available
};

// Reads /proc and, if control groups (version 2) limit this process, /sys/fs/cgroup.
ProcessMemory process_memory();

}  // namespace drover::server
