// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect diff`: compares two states. Each is a snapshot, or the state that a data directory recovers
// to.
//
// The first state is kept as an index of paths, attributes and hashes, about 200 bytes per node, without
// data. The second is streamed; then the first is read again for nodes that the second did not have. So
// memory depends on the number of nodes of one state, not on the data.
#pragma once

#include <string>
#include <vector>

#include "tools/context.h"

namespace drover::tools {

struct DiffCommand {
  std::string left;
  std::string right;
  // dataLogDir for each of the two that is a directory, in this order; empty: same as the data directory.
  std::vector<std::string> log_directories;
  std::string path;          // only this subtree; empty: all
  bool ignore_stat = false;  // zxids, times and versions may differ
  bool summary = false;      // only counts
};

// kFine if nothing differs, otherwise kWrong, as in diff(1).
Outcome run_diff(const Context& context, const DiffCommand& command);

}  // namespace drover::tools
