// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect repair`: makes a damaged data directory one that a server starts on, after a copy was made.
#pragma once

#include <functional>
#include <string>

#include "tools/context.h"

namespace drover::tools {

struct RepairCommand {
  DirectoryArguments directories;
  std::string backup{};      // where the copy goes; empty: beside the directory, named by the time
  bool yes = false;          // do not ask
  bool accept_loss = false;  // even if acknowledged transactions are lost
};

struct RepairWorld {
  std::int64_t now_ms = 0;
  std::function<bool()> confirm;  // asks whoever is there
  // Who uses the directory without taking its lock; "" when nobody does.
  std::function<std::string(const std::string& directory)> user_of = [](const std::string&) {
    return std::string();
  };
};

Outcome run_repair(const Context& context, const RepairCommand& command, const RepairWorld& world);

}  // namespace drover::tools
