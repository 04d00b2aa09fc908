// SPDX-License-Identifier: Apache-2.0
//
// Applies a transaction to the tree. Cannot fail: prepare has checked everything.
//
// Every transaction is idempotent, because a fuzzy snapshot may already contain its effects. Replay then
// finds nodes that exist, are gone, or have newer attributes (docs/storage-format.md). The error in the
// result matters only then; otherwise it is the error that prepare decided on.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_code.h"
#include "state/machine.h"
#include "wire/records.h"
#include "wire/replies.h"
#include "wire/txns.h"

namespace drover::state {

// An event for watchers. `path` points into the transaction, or into TreeEvents::owned.
struct TreeEvent {
  wire::EventType type{};
  std::string_view path;
  AclListPtr acl;  // who may receive it; null: everybody
};

struct TreeEvents {
  std::vector<TreeEvent> list;
  std::deque<std::string> owned;  // paths that the transaction does not contain

  void clear() {
    list.clear();
    owned.clear();
  }
};

struct ApplyResult {
  wire::OpCode type{};  // of the (sub) transaction; kError when it failed
  ErrorCode error = ErrorCode::kOk;
  std::string_view path;
  wire::Stat stat;
  wire::Nullable data;  // of a reconfiguration
  std::vector<ApplyResult> multi;
};

// Applies the transaction and advances machine.last_zxid. Appends events in the order in which watches fire.
ApplyResult apply(Machine& machine, const wire::TxnEntry& txn, TreeEvents& events);

}  // namespace drover::state
