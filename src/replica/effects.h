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
#include "wire/txn_batch.h"
#include "zab/effects.h"

namespace drover::replica {

using wire::TxnBatch;
using wire::TxnBatchPtr;

// A leader's next step: transactions to propose, or, without a batch, a sync that keeps its place among them.
struct Ordered {
  TxnBatchPtr batch;
  bool is_sync() const { return batch == nullptr; }
};

// A learner's message to its leader.
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
  std::vector<Ordered> ordered;        // for a leader
  std::vector<ToLeader> to_leader;     // for a learner
  std::vector<SessionAnswer> answers;  // for Front::on_session_answer, under the writer lock
  zab::Effects zab;                    // for a member
  std::optional<std::string> halt;     // for a member: it must stop and print this for its operator
};

}  // namespace drover::replica
