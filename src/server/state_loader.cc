// SPDX-License-Identifier: Apache-2.0
#include "server/state_loader.h"

#include <fmt/core.h>

#include <limits>

#include "base/path.h"
#include "server/clock.h"
#include "wire/txns.h"

namespace drover::server {

void StateLoader::reset() {
  machine_.tree.clear();
  machine_.sessions.clear();
  machine_.last_zxid = Zxid{0};
  last_parent_ = state::kNoNode;
  awaited_.reset();
  comparable_ = false;
}

bool StateLoader::session(SessionId id, std::int32_t timeout_ms) {
  machine_.sessions.insert_or_assign(id, timeout_ms);
  return true;
}

bool StateLoader::acl(std::int64_t key, std::string_view jute_list) {
  return machine_.tree.acls().load(key, jute_list);
}

state::NodeRef StateLoader::parent_of(std::string_view path) {
  const std::string_view parent = parent_path(path);
  if (last_parent_ == state::kNoNode || parent != last_parent_path_) {
    last_parent_ = machine_.tree.find(parent);
    last_parent_path_ = parent;
  }
  return last_parent_;
}

bool StateLoader::node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
                       const wire::StatPersisted& stat) {
  if (acl < -1 || acl > std::numeric_limits<std::int32_t>::max()) return false;
  const state::AclId acl_id{static_cast<std::int32_t>(acl)};
  machine_.tree.acls().count_loaded_use(acl_id);
  const state::Tree::NewNode fresh{path, data, acl_id, stat};
  if (path.empty()) {
    machine_.tree.restore_root(fresh);
    return true;
  }
  if (path.front() != '/' || path.back() == '/') return false;
  const state::NodeRef parent = parent_of(path);
  if (parent == state::kNoNode || machine_.tree.find(path) != state::kNoNode) return false;
  machine_.tree.insert(parent, fresh);
  return true;
}

void StateLoader::snapshot_loaded(Zxid zxid, const std::optional<storage::SnapshotDigest>& digest) {
  machine_.last_zxid = zxid;
  snapshot_loaded_at_ = monotonic_now();
  // What is missing in old snapshots must be there before transactions touch it.
  machine_.tree.ensure_special_nodes();
  machine_.quotas.rebuild(machine_.tree);
  comparable_ = raw(zxid) == 0;
  if (!digest || digest->version != wire::kDigestVersion || digest->zxid < zxid || raw(digest->zxid) == 0)
    return;
  awaited_ = digest;
  if (digest->zxid == zxid) compare(zxid, digest->tree);
}

bool StateLoader::txn(Zxid zxid, std::string_view entry) {
  const auto txn = wire::decode_entry(entry);
  if (!txn) return false;
  events_.clear();
  state::apply(machine_, *txn, events_);
  if (awaited_ && awaited_->zxid == zxid) {
    compare(zxid, awaited_->tree);
  } else if (comparable_ && machine_.options.digest_enabled && txn->digest &&
             txn->digest->version == wire::kDigestVersion) {
    compare(zxid, txn->digest->tree_digest);
  }
  return true;
}

void StateLoader::compare(Zxid zxid, std::uint64_t expected) {
  awaited_.reset();
  comparable_ = true;
  if (!machine_.options.digest_enabled || machine_.tree.digest() == expected) return;
  if (++mismatches_ > 1) return;  // Every later one follows from the first.
  findings_.push_back(
      fmt::format("the tree's digest at zxid {:#x} is {:#x}, but the files say {:#x}: this state "
                  "is not the one that was acknowledged",
                  raw(zxid), machine_.tree.digest(), expected));
}

void StateLoader::finish() {
  machine_.tree.ensure_special_nodes();
  machine_.tree.acls().drop_unused();
}

}  // namespace drover::server
