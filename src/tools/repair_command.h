// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect repair`: copies a damaged data directory, then repairs it so that a server can start.
#pragma once

#include <functional>
#include <string>

#include "tools/context.h"

namespace drover::tools {

struct RepairCommand {
  DirectoryArguments directories;
  std::string backup{};      // directory of the copy; empty: beside the original, with the time in its name
  bool yes = false;          // do not ask
  bool accept_loss = false;  // even if acknowledged transactions are lost
};

struct RepairWorld {
  std::int64_t now_ms = 0;
  std::function<bool()> confirm;  // asks the user
  // Says which process uses the directory without its lock; "" if none.
  std::function<std::string(const std::string& directory)> user_of = [](const std::string&) {
    return std::string();
  };
};

Outcome run_repair(const Context& context, const RepairCommand& command, const RepairWorld& world);

}  // namespace drover::tools
