// SPDX-License-Identifier: Apache-2.0
//
// A transaction becomes a change of the tree. Cannot fail: what could go wrong was decided by prepare.
//
// Every transaction is idempotent, because a fuzzy snapshot may already hold its effects: replay then
// meets nodes that exist, are gone, or have newer attributes (docs/storage-format.md).
// The error in the result only matters then, and is otherwise the error that prepare decided on.
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

// Something watchers may want to know. `path` points into the transaction, or into TreeEvents::owned.
struct TreeEvent {
  wire::EventType type{};
  std::string_view path;
  AclListPtr acl;  // who may hear of it; null: everybody
};

struct TreeEvents {
  std::vector<TreeEvent> list;
  std::deque<std::string> owned;  // paths that no transaction spells out

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
  std::vector<ApplyResult> multi;
};

// Applies and advances machine.last_zxid. Events are appended in the order in which watches fire.
ApplyResult apply(Machine& machine, const wire::TxnEntry& txn, TreeEvents& events);

}  // namespace drover::state
