// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect history`: every change of one node that the snapshots and logs of a data directory contain.
#pragma once

#include <string>

#include "tools/context.h"

namespace drover::tools {

struct HistoryCommand {
  DirectoryArguments directories;
  std::string path;
  bool whole_data = false;  // do not shorten data
};

Outcome run_history(const Context& context, const HistoryCommand& command);

}  // namespace drover::tools
