// SPDX-License-Identifier: Apache-2.0
#include "replica/state_builder.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/path.h"
#include "base/text.h"
#include "wire/txns.h"

namespace drover::replica {
namespace {

// Keys count up from 1 for each new list. This limit is far below the point where they would run out.
constexpr std::int64_t kAclKeyMax = std::int64_t{1} << 30;

// Deletes, right behind the end of a large session, what its list had no room for (state::prepare_sweep).
bool is_sweep(const wire::TxnEntry& txn) {
  return raw(txn.header.session) == 0 && std::holds_alternative<wire::MultiTxn>(txn.record);
}

bool is_touched(const wire::StatPersisted& stat) {
  return std::max({stat.czxid, stat.mzxid, stat.pzxid}) > Zxid{0} || stat.version > 0 || stat.aversion > 0;
}

}  // namespace

StateBuilder::StateBuilder(state::Machine& machine, OnTxn on_txn)
    : machine_(machine), on_txn_(std::move(on_txn)) {}

void StateBuilder::reset() {
  machine_.tree.clear();
  machine_.quotas = state::Quotas(machine_.options.hash_key);
  machine_.sessions.clear();
  machine_.last_zxid = Zxid{0};
  machine_.digest_log.clear();
  last_parent_ = state::kNoNode;
  loaded_ = false;
  awaited_.reset();
  touched_ = comparable_ = contradicted_ = false;
  doubt_.clear();
  loaded_at_ = Zxid{0};
  findings_.clear();
}

bool StateBuilder::session(SessionId id, std::int32_t timeout_ms) {
  machine_.sessions.insert_or_assign(id, timeout_ms);
  return true;
}

bool StateBuilder::acl(std::int64_t key, std::string_view jute_list) {
  return key <= kAclKeyMax && machine_.tree.acls().load(key, jute_list);
}

state::NodeRef StateBuilder::parent_of(std::string_view path) {
  const std::string_view parent = parent_path(path);
  if (last_parent_ == state::kNoNode || parent != last_parent_path_) {
    last_parent_ = machine_.tree.find(parent);
    last_parent_path_ = parent;
  }
  return last_parent_;
}

bool StateBuilder::node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                        const wire::StatPersisted& stat) {
  if (acl < -1 || acl > kAclKeyMax) return false;
  touched_ = touched_ || is_touched(stat);
  const state::AclId acl_id{static_cast<std::int32_t>(acl)};
  machine_.tree.acls().count_loaded_use(acl_id);
  const state::Tree::NewNode fresh{path, data, acl_id, stat};
  if (path.empty()) {
    machine_.tree.restore_root(fresh);
    return true;
  }
  if (path.front() != '/' || path.back() == '/' || path.starts_with("//")) return false;
  const state::NodeRef parent = parent_of(path);
  if (parent == state::kNoNode || machine_.tree.find(path) != state::kNoNode) return false;
  machine_.tree.insert(parent, fresh);
  return true;
}

void StateBuilder::loaded(Zxid zxid, const std::optional<Digest>& digest) {
  loaded_ = true;
  machine_.last_zxid = zxid;
  loaded_at_ = zxid;
  // Nodes that are missing in old snapshots must exist before transactions touch them.
  machine_.tree.ensure_special_nodes();
  machine_.quotas.rebuild(machine_.tree);
  // A leader's stream that began at 0 may hold some of what was agreed on while it was sent.
  comparable_ = raw(zxid) == 0 && !touched_;
  if (!digest || digest->version != wire::kDigestVersion || digest->zxid < zxid || raw(digest->zxid) == 0)
    return;
  awaited_ = digest;
  if (digest->zxid == zxid) compare_with_snapshot(zxid);
}

bool StateBuilder::txn(Zxid zxid, std::string_view entry) {
  // History begins with nothing, but a server without history already has /zookeeper.
  if (!loaded_) loaded(Zxid{0});
  const auto txn = wire::decode_entry(entry);
  if (!txn) return false;
  events_.clear();
  state::apply(machine_, *txn, events_);
  if (awaited_ && awaited_->zxid == zxid) {
    compare_with_snapshot(zxid);
  } else if (comparable_ && machine_.options.digest_enabled && txn->digest &&
             txn->digest->version == wire::kDigestVersion && !(is_sweep(*txn) && !doubt_.empty())) {
    compare(zxid, txn->digest->tree_digest);
  }
  if (on_txn_) on_txn_(zxid, entry);
  return true;
}

// Java writes the digest of the last transaction that it has finished, and its walk may already have met
// changes of the next one. Such a tree is right once the next one is replayed, and differs here. A walk may
// also end between the end of a large session and its sweeps. If it met a parent before and a child after,
// the parent's pzxid is right once the sweep that names the child is replayed.
void StateBuilder::compare_with_snapshot(Zxid zxid) {
  const std::uint64_t expected = awaited_->tree;
  awaited_.reset();
  comparable_ = true;
  if (differs(expected)) doubt_ = contradiction(zxid, expected);
}

void StateBuilder::compare(Zxid zxid, std::uint64_t expected) {
  contradicted_ = differs(expected);
  if (!contradicted_) return doubt_.clear();
  if (findings_.empty()) findings_.push_back(doubt_.empty() ? contradiction(zxid, expected) : doubt_);
  doubt_.clear();  // It is reported, and every later one follows from the first.
}

bool StateBuilder::differs(std::uint64_t expected) const {
  return machine_.options.digest_enabled && machine_.tree.digest() != expected;
}

std::string StateBuilder::contradiction(Zxid zxid, std::uint64_t expected) const {
  return "the tree's digest at zxid " + hex_text(zxid) + " is " + hex_text(machine_.tree.digest()) +
         ", but the files say " + hex_text(expected) + ": this state is not the one that was acknowledged";
}

void StateBuilder::finish() {
  if (!loaded_) loaded(Zxid{0});
  if (!doubt_.empty()) {
    contradicted_ = true;
    findings_.push_back(std::exchange(doubt_, {}));
  }
  machine_.tree.ensure_special_nodes();
  machine_.tree.acls().drop_unused();
}

}  // namespace drover::replica
