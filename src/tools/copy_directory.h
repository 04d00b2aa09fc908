// SPDX-License-Identifier: Apache-2.0
//
// A copy of a directory's files, durable when it is done.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "tools/context.h"

namespace drover::tools {

// Of the files right in it; directories below are left out, as no server reads them.
IoResult<std::uint64_t> directory_bytes(storage::Disk& disk, const std::string& directory);

// `to` must not exist yet, and is made.
IoResult<void> copy_directory(const Context& context, const std::string& from, const std::string& to);

}  // namespace drover::tools
