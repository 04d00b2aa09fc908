// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect snapshot`: what a snapshot holds, read as a stream whatever its size.
#pragma once

#include <string>

#include "tools/context.h"

namespace drover::tools {

struct SnapshotCommand {
  std::string source;  // a file, or a data directory for its newest one
  bool stats = false;
  bool nodes = false;
  bool sessions = false;
  bool acls = false;
  bool data = false;
  std::string path;  // only nodes at or below it; empty: all
};

Outcome run_snapshot(const Context& context, const SnapshotCommand& command);

}  // namespace drover::tools
