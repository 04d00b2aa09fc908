// SPDX-License-Identifier: Apache-2.0
//
// Copies a directory's files durably.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "tools/context.h"

namespace drover::tools {

// Only files directly in the directory; subdirectories are skipped, because no server reads them.
IoResult<std::uint64_t> directory_bytes(storage::Disk& disk, const std::string& directory);

// Creates `to`, which must not exist.
IoResult<void> copy_directory(const Context& context, const std::string& from, const std::string& to);

}  // namespace drover::tools
