// SPDX-License-Identifier: Apache-2.0
//
// Answers every operation that changes nothing: straight from the tree into the connection's output.
//
// Runs on the connection's own thread, under the tree's reader lock, and may register watches there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "state/acl.h"
#include "state/machine.h"
#include "state/watches.h"
#include "wire/records.h"

namespace drover::state {

struct ReadRequest {
  SessionId session{};
  std::int32_t xid = 0;
  wire::OpCode op{};
  std::string_view body;
  const Identities* who = nullptr;
  WatcherId watcher{};
};

struct WatchLimits {
  std::size_t per_connection = 100'000;
  std::size_t per_table = 1'000'000;
};

// Whether answer_read() knows the op.
bool is_read(wire::OpCode op);

// About how large the reply would be now; 0 for those that are always small.
std::size_t reply_bytes_estimate(const Machine& machine, wire::OpCode op, std::string_view body);

// Appends the reply frame; before it, for setWatches, the events that the client has missed.
void answer_read(const Machine& machine, Watches& watches, const WatchLimits& limits,
                 const ReadRequest& request, std::string& out);

}  // namespace drover::state
