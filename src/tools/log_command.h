// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect log`: the transactions of a log file, or of all log files of a directory, one by one.
//
// It shows what is there and goes on behind what is wrong with the next file; what a server would believe of
// it is `verify`'s question.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/ids.h"
#include "tools/context.h"
#include "wire/records.h"

namespace drover::tools {

struct LogCommand {
  std::string source;  // a file or a data directory
  std::optional<Zxid> from;
  std::optional<Zxid> to;
  std::string path;  // a subtree; empty: all
  std::optional<SessionId> session;
  std::set<wire::OpCode> types;  // empty: all
  bool stats = false;
  bool data = false;
};

Outcome run_log(const Context& context, const LogCommand& command);

}  // namespace drover::tools
