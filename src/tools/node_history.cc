// SPDX-License-Identifier: Apache-2.0
#include "tools/node_history.h"

#include <algorithm>
#include <variant>

#include "state/ephemeral_owner.h"
#include "tools/txn_text.h"

namespace drover::tools {
namespace {

using wire::OpCode;

std::optional<std::string> owned(const wire::Nullable& data) {
  return data ? std::optional<std::string>(*data) : std::nullopt;
}

std::int64_t owner_of(const wire::TxnHeader& header, OpCode type, const wire::CreateTxn& txn) {
  if (type == OpCode::kCreateContainer) return state::kContainerOwner;
  if (type == OpCode::kCreateTtl) return state::owner_of_ttl(txn.ttl_ms);
  return txn.ephemeral ? raw(header.session) : 0;
}

}  // namespace

std::vector<NodeChange> NodeHistory::apply(const wire::TxnEntry& txn) {
  std::vector<NodeChange> changes;
  if (has_failed(txn)) return changes;
  for (const Operation& operation : operations_of(txn)) {
    if (operation.record) apply(txn.header, operation.type, *operation.record, changes);
  }
  for (NodeChange& change : changes) change.in_multi = txn.header.type == OpCode::kMulti;
  return changes;
}

bool NodeHistory::is_ended_by(const wire::TxnHeader& header, const wire::CloseSessionTxn& txn) const {
  if (!now_) return false;
  // Before 3.6 the paths are not listed; the owner decides.
  return now_->owner == raw(header.session) || std::ranges::find(txn.paths, path_) != txn.paths.end();
}

std::optional<NodeState> NodeHistory::after(const wire::TxnHeader& header, OpCode type,
                                            const wire::CreateTxn& txn) {
  return NodeState{.data = owned(txn.data),
                   .acl = std::string(txn.acl),
                   .version = 0,
                   .aversion = 0,
                   .owner = owner_of(header, type, txn),
                   .czxid = header.zxid,
                   .mzxid = header.zxid};
}

void NodeHistory::apply(const wire::TxnHeader& header, OpCode type, const wire::TxnRecord& record,
                        std::vector<NodeChange>& changes) {
  const auto* close = std::get_if<wire::CloseSessionTxn>(&record);
  if (close ? !is_ended_by(header, *close) : path_of(record) != path_) return;
  NodeChange change{.header = header, .type = type, .before = now_, .after = now_};
  // The snapshot already contained this transaction or a later one.
  change.before_known = !from_snapshot_ || now_->mzxid < header.zxid || type == OpCode::kSetAcl;
  if (const auto* create = std::get_if<wire::CreateTxn>(&record)) {
    change.after = after(header, type, *create);
  } else if (const auto* set = std::get_if<wire::SetDataTxn>(&record)) {
    if (!now_) return;  // Deleted by a later transaction that the snapshot contains.
    change.after->data = owned(set->data);
    change.after->version = set->version;
    change.after->mzxid = header.zxid;
  } else if (const auto* set_acl = std::get_if<wire::SetAclTxn>(&record)) {
    if (!now_) return;
    change.after->acl = std::string(set_acl->acl);
    change.after->aversion = set_acl->version;
  } else if (close || std::holds_alternative<wire::DeleteTxn>(record)) {
    if (!now_) return;
    change.after.reset();
  } else {
    return;  // A check changes nothing.
  }
  if (!change.before_known) change.before.reset();
  now_ = change.after;
  from_snapshot_ = false;
  changes.push_back(std::move(change));
}

}  // namespace drover::tools
