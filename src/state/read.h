// SPDX-License-Identifier: Apache-2.0
//
// Answers all read operations: straight from the tree into the connection's output.
//
// Runs on the connection's own thread, under the tree's reader lock, and may register watches there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/client_limits.h"
#include "base/error_code.h"
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
  // Limit for replies that are built from many nodes. A reply about one node is as large as the node.
  std::size_t reply_bytes_max = client_limits::kOutputBytes;
  // The same limit in nodes.
  std::size_t nodes_max = client_limits::kNodesOfReply;
  // getChildren of a node with more children is not answered.
  std::size_t children_max = std::numeric_limits<std::size_t>::max();
};

struct WatchLimits {
  std::size_t per_connection = client_limits::kWatches;
  std::size_t per_table = client_limits::kWatchesTotal;
  std::size_t bytes_per_connection = client_limits::kWatchBytes;  // of paths
  std::size_t bytes_per_table = client_limits::kWatchBytesTotal;
};

struct ReadOutcome {
  ErrorCode error = ErrorCode::kOk;
  std::size_t looked_at = 0;  // number of nodes and watches, for reads that examine many
  // More than `children_max` children: nothing was done. state/children_reply.h answers in pieces.
  bool has_too_many_children = false;
};

// True if answer_read() supports the op.
bool is_read(wire::OpCode op);

// Children are estimated to take so much of a reply.
inline constexpr std::size_t kChildBytesEstimate = 32;

// Approximate size of the reply, or of the work if that is more; 0 for ops whose replies are always small.
std::size_t reply_bytes_estimate(const Machine& machine, SessionId session, wire::OpCode op,
                                 std::string_view body);

// Appends the reply frame. For setWatches, the events that the client has missed come first.
ReadOutcome answer_read(const Machine& machine, Watches& watches, const WatchLimits& limits,
                        const ReadRequest& request, std::string& out);

}  // namespace drover::state
