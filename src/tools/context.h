// SPDX-License-Identifier: Apache-2.0
//
// Input and result of every command of `drover inspect`.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "tools/output.h"

namespace drover::tools {

inline constexpr int kFine = 0;
inline constexpr int kWrong = 1;  // something is wrong with the data
inline constexpr int kUsage = 2;

struct Context {
  storage::Disk& disk;
  Output& out;
  Output& notes;  // stderr: messages that are not part of the result
  bool json = false;
  bool show_progress = false;
};

// The exit code. An error is printed to stderr and becomes kWrong.
using Outcome = IoResult<int>;

// A data directory as given by the user: the dataDir of zoo.cfg, or its version-2.
struct DirectoryArguments {
  std::string directory;
  std::string log_directory;  // dataLogDir; empty: same as the data directory
};
IoResult<storage::DataDirs> find_directories(storage::Disk& disk, const DirectoryArguments& arguments);

// Whether the path is a directory; an error if it does not exist.
IoResult<bool> is_directory(storage::Disk& disk, const std::string& path);

struct PathParts {
  std::string directory;
  std::string name;
};
PathParts split_path(const std::string& path);

IoResult<std::uint64_t> file_bytes(storage::Disk& disk, const std::string& path);

}  // namespace drover::tools
