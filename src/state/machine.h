// SPDX-License-Identifier: Apache-2.0
//
// The replicated state: equal on all servers after the same transactions.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.h"
#include "state/options.h"
#include "state/quota.h"
#include "state/tree.h"

namespace drover::state {

// Every live global session and the timeout it was created with.
using SessionTable = boost::unordered_flat_map<SessionId, std::int32_t>;

struct Machine {
  explicit Machine(const Options& o) : options(o), tree(o), quotas(o.hash_key) {}

  Options options;
  Tree tree;
  Quotas quotas;
  SessionTable sessions;
  Zxid last_zxid{};  // of the last applied transaction
  // The tree's digest at every 128th zxid, newest last. For comparing servers by hand (`hash`).
  std::deque<std::pair<Zxid, std::uint64_t>> digest_log;
};

}  // namespace drover::state
