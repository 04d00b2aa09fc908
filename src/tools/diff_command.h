// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect diff`: what differs between two states, each a snapshot or what a data directory recovers
// to.
//
// The first state is kept as an index, without its data: path, attributes and a hash, some 200 bytes for a
// node. The second streams past it; then the first is read again for what the second did not have. So two
// snapshots with any amount of data are compared in memory for the names of one.
#pragma once

#include <string>
#include <vector>

#include "tools/context.h"

namespace drover::tools {

struct DiffCommand {
  std::string left;
  std::string right;
  // dataLogDir of each of the two that is a directory, in this order; empty: logs lie with the snapshots.
  std::vector<std::string> log_directories;
  std::string path;          // only at or below it; empty: all
  bool ignore_stat = false;  // zxids, times and versions may differ
  bool summary = false;      // counts only
};

// kFine when nothing differs, kWrong when something does, as diff(1) has it.
Outcome run_diff(const Context& context, const DiffCommand& command);

}  // namespace drover::tools
