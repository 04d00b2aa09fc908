// SPDX-License-Identifier: Apache-2.0
#include "monitor/process_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace drover::server {
namespace {

std::uint64_t machine_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// "MemAvailable:   12345 kB"
std::optional<std::uint64_t> available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    std::uint64_t kilobytes = 0;
    if (name == "MemAvailable:" && file >> kilobytes) return kilobytes << 10;
  }
  return std::nullopt;
}

// The file holds "max" if there is no limit.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// "0::/system.slice/drover.service": the version 2 group.
std::string control_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return {};
}

}  // namespace

ProcessMemory process_memory() {
  ProcessMemory memory{.limit_bytes = machine_bytes(), .free_bytes = machine_bytes()};
  if (const auto available = available_bytes()) memory.free_bytes = *available;
  // The limits of all parent groups apply too.
  for (std::string group = control_group();; group.resize(group.rfind('/'))) {
    const std::string folder = "/sys/fs/cgroup" + group;
    if (const auto limit = number_in(folder + "/memory.max")) {
      memory.limit_bytes = std::min(memory.limit_bytes, *limit);
      const std::uint64_t used = number_in(folder + "/memory.current").value_or(0);
      memory.free_bytes = std::min(memory.free_bytes, *limit - std::min(used, *limit));
    }
    if (group.find('/') == std::string::npos) return memory;
  }
}

}  // namespace drover::server
