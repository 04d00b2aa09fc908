// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect at`: the tree as it was after a given transaction.
#pragma once

#include <string>

#include "base/ids.h"
#include "tools/context.h"

namespace drover::tools {

struct AtCommand {
  DirectoryArguments directories;
  Zxid zxid{};
  std::string path;  // only this subtree; empty: all
  bool data = false;
  std::string write;  // file to write a snapshot to; empty: none
};

Outcome run_at(const Context& context, const AtCommand& command);

}  // namespace drover::tools
