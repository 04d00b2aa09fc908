// SPDX-License-Identifier: Apache-2.0
//
// Turns a request into a transaction. Every check is made here, once, on the leader.
//
// The order of checks decides which error a client sees (docs/client-protocol.md, "Order of checks"). A
// failed request becomes an error transaction, which takes a zxid and is logged like any other. A request
// that cannot be decoded does not become a transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_code.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "state/acl.h"
#include "state/machine.h"
#include "state/pending_changes.h"
#include "wire/records.h"
#include "wire/requests.h"

namespace drover::state {

// Decides a reconfiguration: the text of the new membership, which has this zxid as its version. The state
// knows nothing of members; it only knows who may write their node.
using ReconfigRule =
    std::function<CodeResult<std::string>(const wire::ReconfigRequest& request, Zxid zxid, bool may_write)>;

struct WriteRequest {
  SessionId session{};
  std::int32_t cxid = 0;
  wire::OpCode op{};
  std::string_view body{};
  const Identities* who = nullptr;
  // Result of the session check: kOk, SESSIONEXPIRED, SESSIONMOVED. Ops evaluate it at different points.
  ErrorCode session_error = ErrorCode::kOk;
  // An additional error for ephemeral nodes: the session is known to one server only.
  ErrorCode ephemeral_error = ErrorCode::kOk;
  const ReconfigRule* reconfig = nullptr;  // null: a standalone server has no members
};

// True if the op changes state and so needs a transaction.
bool is_write(wire::OpCode op);

struct Prepared {
  ErrorCode error = ErrorCode::kOk;  // of the request; for a multi, of its first failing element
  // The bytes are not a valid request. As of 3.9 Java takes no zxid for it, so the caller may drop the entry.
  bool undecodable = false;
  bool too_large = false;  // the transaction would be larger than options.txn_bytes_max
  // Paths for prepare_sweep(), which must follow immediately. Only set for closeSession, and rarely.
  std::vector<std::string> unlisted{};
};

// Appends the entry (header, record, digest) of transaction `zxid` to `out`, and records its changes as
// pending. Always produces exactly one entry.
Prepared prepare(const Machine& machine, PendingChanges& pending, const WriteRequest& request, Zxid zxid,
                 WallTime now, std::string& out);

// --- the end of a session with very many nodes ---
//
// closeSession deletes all nodes that the session owns, and lists them. A transaction that is too large for
// followers to read would stop the ensemble for good (ZOOKEEPER-4306), so a list that is too long is cut.
// Every version of ZooKeeper also deletes nodes of the session that are not listed. So the end of a session
// is one transaction, however many nodes it owns: a leader that crashes leaves nothing half done.
//
// The list is needed for replay over a fuzzy snapshot that contains the old parent but no longer the child:
// deleting a missing child by name still sets the parent's pzxid (ZOOKEEPER-3145). One child of each parent
// is enough, so these are listed first. If even these are too many, the rest is deleted again by name in the
// transactions that follow (a sweep), which sets their parents' pzxid. For followers a sweep is a multi
// without a session: they apply it and send no reply.

// How many paths, from the first on, go into one sweep.
std::size_t count_for_sweep(std::span<const std::string> paths, const Options& options);
// Appends a transaction that sweeps `paths`, and records its changes as pending.
void prepare_sweep(const Machine& machine, PendingChanges& pending, std::span<const std::string> paths,
                   Zxid zxid, WallTime now, std::string& out);

}  // namespace drover::state
