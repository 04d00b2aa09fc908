// SPDX-License-Identifier: Apache-2.0
#include "tools/open_files.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

namespace drover::tools {
namespace {

namespace fs = std::filesystem;

bool is_process(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The name of a file in `directory` that the process has open. Processes end at any time, so an error means
// none.
std::string open_file_of(const fs::path& process, const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator it(process / "fd", error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    const fs::path target = fs::read_symlink(it->path(), unreadable);
    if (!unreadable && target.parent_path() == directory) return target.filename().string();
  }
  return {};
}

}  // namespace

std::string user_of_directory(const std::string& directory) {
  std::error_code error;
  const fs::path real = fs::canonical(directory, error);
  if (error) return {};
  const std::string self = std::to_string(getpid());
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!is_process(name) || name == self) continue;
    const std::string file = open_file_of(it->path(), real);
    if (!file.empty()) return "process " + name + " has " + file + " open";
  }
  return {};
}

}  // namespace drover::tools
