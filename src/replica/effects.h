// SPDX-License-Identifier: Apache-2.0
//
// Everything a replica can ask of the world. Nothing else leaves the core.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "replica/messages.h"

namespace drover::replica {

// Transactions to append to the log, entries back to back; answered by on_durable(). Shared with the log
// thread, which reads while the replica waits to apply the same bytes.
struct LogAppend {
  std::string bytes;
  std::vector<std::uint32_t> ends;  // where entry i ends
  Zxid first{};
  Zxid last{};
};
using LogAppendPtr = std::shared_ptr<const LogAppend>;

struct Effects {
  LogAppendPtr append;
  std::vector<SessionAnswer> answers;  // for Front::on_session_answer, under the writer lock
};

}  // namespace drover::replica
