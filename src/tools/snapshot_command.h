// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect snapshot`: prints the contents of a snapshot, read as a stream.
#pragma once

#include <string>

#include "tools/context.h"

namespace drover::tools {

struct SnapshotCommand {
  std::string source;  // a file, or a data directory (its newest snapshot)
  bool stats = false;
  bool nodes = false;
  bool sessions = false;
  bool acls = false;
  bool data = false;
  std::string path;  // only this subtree; empty: all
};

Outcome run_snapshot(const Context& context, const SnapshotCommand& command);

}  // namespace drover::tools
