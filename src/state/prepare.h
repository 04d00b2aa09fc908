// SPDX-License-Identifier: Apache-2.0
//
// A request becomes a transaction: every check is made here, once, on the leader.
//
// The order of checks decides which error a client sees (docs/client-protocol.md, "Order of checks"). A
// request that fails becomes an error transaction, which takes a zxid and is logged like any other. A
// request that cannot be decoded becomes none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  bool too_large = false;  // the transaction would be larger than options.txn_bytes_max
  // Only of closeSession, and hardly ever: what prepare_sweep() must have right behind it.
  std::vector<std::string> unlisted{};
};

// Appends the entry (header, record, digest) of transaction `zxid` to `out`, and records its changes as
// pending. Always produces exactly one entry.
Prepared prepare(const Machine& machine, PendingChanges& pending, const WriteRequest& request, Zxid zxid,
                 WallTime now, std::string& out);

// --- the end of a session with very many nodes ---
//
// closeSession deletes everything that the session owns, and lists it. A transaction that is too large for
// followers to read would stop the ensemble for good (ZOOKEEPER-4306), so a list that is too long is cut.
// Every version of ZooKeeper also deletes nodes of the session that are not listed. The end of a session is
// therefore one transaction, however many nodes it owns: a leader that crashes leaves nothing half done.
//
// The list is needed for replay over a fuzzy snapshot that holds a parent as it was before and the child no
// longer: deleting a missing child by name still sets the parent's pzxid (ZOOKEEPER-3145). One child of each
// parent is enough, so these are listed first. If even they are too many, the others are deleted again by
// name in transactions that follow (a sweep), which sets their parents' pzxid. For followers a sweep is a
// multi without a session: they apply it and answer nobody.

// How many of the first paths go into one sweep.
std::size_t count_for_sweep(std::span<const std::string> paths, const Options& options);
// Appends a transaction that sweeps these, and records its changes as pending.
void prepare_sweep(const Machine& machine, PendingChanges& pending, std::span<const std::string> paths,
                   Zxid zxid, WallTime now, std::string& out);

}  // namespace drover::state
