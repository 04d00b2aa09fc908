// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect history`: every change to one node that snapshots and logs of a data directory still know.
#pragma once

#include <string>

#include "tools/context.h"

namespace drover::tools {

struct HistoryCommand {
  DirectoryArguments directories;
  std::string path;
  bool whole_data = false;  // do not shorten
};

Outcome run_history(const Context& context, const HistoryCommand& command);

}  // namespace drover::tools
