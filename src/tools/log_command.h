// SPDX-License-Identifier: Apache-2.0
//
// `drover inspect log`: prints the transactions of a log file, or of all log files of a directory.
//
// It prints what is there. After damage it continues with the next file; `verify` says what a server would
// accept.
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
  std::string path;  // only this subtree; empty: all
  std::optional<SessionId> session;
  std::set<wire::OpCode> types;  // empty: all
  bool stats = false;
  bool data = false;
};

Outcome run_log(const Context& context, const LogCommand& command);

}  // namespace drover::tools
