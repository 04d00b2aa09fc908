// SPDX-License-Identifier: Apache-2.0
//
// Everything a replica can ask of the world. Nothing else leaves the core.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "replica/messages.h"
#include "zab/effects.h"
#include "zab/txn_batch.h"

namespace drover::replica {

// Transactions to append to the log; answered by on_durable(). Shared with the log thread, which reads while
// the replica waits to apply the same bytes.
using LogAppend = zab::TxnBatch;
using LogAppendPtr = zab::TxnBatchPtr;

// A leader's next step: transactions to propose, or, without any, a sync that keeps its place among them.
struct Ordered {
  LogAppendPtr batch;
  bool is_sync() const { return batch == nullptr; }
};

// A learner's word to its leader.
struct ToLeader {
  enum class Kind : std::uint8_t { kRequest, kRevalidate };
  Kind kind{};
  SessionId session{};
  std::int32_t cxid = 0;
  wire::OpCode op{};
  std::string body{};
  state::IdentitiesPtr who{};
  std::int32_t timeout_ms = 0;
};

struct Effects {
  LogAppendPtr append;                 // of a server alone
  std::vector<Ordered> ordered;        // of a leader
  std::vector<ToLeader> to_leader;     // of a learner
  std::vector<SessionAnswer> answers;  // for Front::on_session_answer, under the writer lock
  zab::Effects zab;                    // of a member of an ensemble
  std::size_t orders_seen = 0;         // of zab.disk, by Member
  std::optional<std::string> halt;     // of a member: it must end, and say this to its operator
};

}  // namespace drover::replica
