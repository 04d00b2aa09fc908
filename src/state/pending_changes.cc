// SPDX-License-Identifier: Apache-2.0
#include "state/pending_changes.h"

#include "base/ensure.h"
#include "state/digest.h"

namespace drover::state {

std::optional<NodeFacts> PendingChanges::find(std::string_view path) const {
  if (path == "/") path = "";
  const Hashed key = tree_.hashed(path);
  if (const auto found = records_.find(key); found != records_.end()) {
    if (!found->second.facts.exists) return std::nullopt;
    return found->second.facts;
  }
  const Node* node = tree_.get(key);
  if (!node || will_end(*node)) return std::nullopt;
  NodeFacts facts;
  facts.child_count = static_cast<std::int32_t>(node->child_count);
  facts.content_crc = node->content_crc;
  facts.data_bytes = static_cast<std::int64_t>(node->data_bytes());
  if (node->acl != kOpenAcl) facts.acl = tree_.acl(*node);
  facts.stat = persisted_stat(*node);
  if (counts_in_digest(path)) facts.digest = node_digest(facts.content_crc, facts.stat);
  return facts;
}

void PendingChanges::put(std::string_view path, Zxid zxid, const NodeFacts& after,
                         std::uint64_t digest_before) {
  if (path == "/") path = "";
  digest_ = digest() - digest_before + (after.exists ? after.digest : 0);
  const Hashed key = tree_.hashed(path);
  auto found = records_.find(key);
  if (marked_) {
    undo_.push_back({{std::string(path), key.hash},
                     found == records_.end() ? std::nullopt : std::optional(found->second.facts)});
  }
  if (found == records_.end()) found = records_.emplace(Key{std::string(path), key.hash}, Record{}).first;
  found->second.facts = after;
  ++found->second.pending;
  order_.push_back({.zxid = zxid, .key = &found->first});
  ++counts_.queued;
}

bool PendingChanges::will_end(const Node& node) const {
  return !ending_.empty() && kind_of(node.ephemeral_owner, tree_.options()) == NodeKind::kEphemeral &&
         is_ending(SessionId{node.ephemeral_owner});
}

void PendingChanges::end_session(SessionId session, Zxid zxid, const OwnedNodes& nodes) {
  ENSURE(!marked_, "a session does not end within a multi");
  digest_ = digest() - nodes.digest;
  ending_[session] = zxid;
  order_.push_back({.zxid = zxid, .session = session, .nodes = nodes.count});
  counts_.queued += nodes.count;
}

void PendingChanges::applied(Zxid zxid) {
  for (; !order_.empty() && order_.front().zxid <= zxid; order_.pop_front()) {
    const Change& change = order_.front();
    counts_.removed += change.nodes;
    if (!change.key) {
      const auto ending = ending_.find(change.session);
      if (ending != ending_.end() && ending->second == change.zxid) ending_.erase(ending);
      continue;
    }
    const auto record = records_.find(*change.key);
    ENSURE(record != records_.end(), "a pending change has its record");
    if (--record->second.pending == 0) records_.erase(record);
  }
}

void PendingChanges::mark() {
  marked_ = true;
  undo_.clear();
  digest_at_mark_ = digest();
}

void PendingChanges::rollback() {
  ENSURE(marked_, "only a marked change is rolled back");
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    const auto record = records_.find(undo->key);
    order_.pop_back();
    ++counts_.removed;
    --record->second.pending;
    if (undo->before) {
      record->second.facts = *undo->before;
    } else {
      records_.erase(record);
    }
  }
  digest_ = digest_at_mark_;
  marked_ = false;
}

}  // namespace drover::state
