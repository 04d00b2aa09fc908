// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect at`: the tree as it was when some transaction was the last one.
#pragma once

#include <string>

#include "base/ids.h"
#include "tools/context.h"

namespace drover::tools {

struct AtCommand {
  DirectoryArguments directories;
  Zxid zxid{};
  std::string path;  // only this node and what is below; empty: all
  bool data = false;
  std::string write;  // a snapshot of it goes to this file
};

Outcome run_at(const Context& context, const AtCommand& command);

}  // namespace drover::tools
