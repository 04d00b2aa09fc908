// SPDX-License-Identifier: Apache-2.0
//
// A request becomes a transaction: every check is made here, once, on the leader.
//
// The order of checks decides which error a client sees, so it is ZooKeeper's (client-protocol §7.2). A
// request that fails becomes an error transaction: it takes a zxid and is logged like any other. Only one
// that cannot be decoded need not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error_code.h"
#include "base/ids.h"
#include "base/time.h"
#include "state/acl.h"
#include "state/machine.h"
#include "state/pending_changes.h"
#include "wire/records.h"

namespace drover::state {

struct WriteRequest {
  SessionId session{};
  std::int32_t cxid = 0;
  wire::OpCode op{};
  std::string_view body{};
  const Identities* who = nullptr;
  // What the session check says: kOk, SESSIONEXPIRED, SESSIONMOVED. Ops differ in when they ask.
  ErrorCode session_error = ErrorCode::kOk;
  // What stands against an ephemeral node of this session besides: it is known to one server only.
  ErrorCode ephemeral_error = ErrorCode::kOk;
};

// Whether the op changes state and so needs a transaction.
bool is_write(wire::OpCode op);

struct Prepared {
  ErrorCode error = ErrorCode::kOk;  // of the request; for a multi, of its first failing part
  // The bytes are no such request. As of 3.9 Java takes no zxid for it, so the caller may drop the entry.
  bool undecodable = false;
};

// Appends the entry (header, record, digest) of transaction `zxid` to `out`, and records its changes as
// pending. Always produces exactly one entry.
Prepared prepare(const Machine& machine, PendingChanges& pending, const WriteRequest& request, Zxid zxid,
                 WallTime now, std::string& out);

}  // namespace drover::state
