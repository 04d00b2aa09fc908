// SPDX-License-Identifier: Apache-2.0
#include "state/tree.h"

#include <cstring>

#include "base/ensure.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/same_bytes.h"
#include "state/child_listing.h"
#include "state/digest.h"

namespace drover::state {
namespace {

std::uint64_t digest_part(std::string_view path, const Node& node) {
  return counts_in_digest(path) ? node_digest(node.content_crc, persisted_stat(node)) : 0;
}

void assign_stat(Node& node, const wire::StatPersisted& s) {
  node.czxid = s.czxid;
  node.mzxid = s.mzxid;
  node.pzxid = s.pzxid;
  node.ctime = s.ctime;
  node.mtime = s.mtime;
  node.version = s.version;
  node.cversion = s.cversion;
  node.aversion = s.aversion;
  node.ephemeral_owner = s.ephemeral_owner;
}

}  // namespace

wire::StatPersisted persisted_stat(const Node& n) {
  return {n.czxid, n.mzxid, n.ctime, n.mtime, n.version, n.cversion, n.aversion, n.ephemeral_owner, n.pzxid};
}

Tree::Tree(const Options& options) : options_(options), acls_(options.hash_key) {
  clear();
  ensure_special_nodes();
}

Tree::~Tree() { clear(); }

void Tree::clear() {
  // Only blocks from malloc must be released one by one; the walk finds them all.
  if (root_ != kNoNode) {
    for (NodeRef ref = root_; ref != kNoNode; ref = successor(ref, true)) {
      Node& node = nodes_.at(ref);
      blobs_.release(node.bytes, node.name_length + node.data_bytes());
      node.bytes = nullptr;
    }
  }
  nodes_ = NodeStore{};
  index_ = PathIndex{};
  acls_.clear();
  ephemerals_.clear();
  containers_.clear();
  ttl_nodes_.clear();
  walks_.for_each([](WalkPlaces::Place& walk) {
    walk.next = kNoNode;
    walk.cut_off = true;
  });
  digest_ = 0;
  data_bytes_ = 0;
  ephemeral_count_ = 0;
  below_root_ = {};
  below_.clear();

  root_ = nodes_.allocate();
  Node& root = nodes_.at(root_);
  root.data_length = 0;
  digest_ = digest_part("", root);
}

void Tree::ensure_special_nodes() {
  if (find(kZooKeeperPath) == kNoNode)
    insert(root_, {.path = kZooKeeperPath, .data = "", .acl = kOpenAcl, .stat = {}});
  const NodeRef zookeeper = find(kZooKeeperPath);
  if (find(kQuotaPath) == kNoNode)
    insert(zookeeper, {.path = kQuotaPath, .data = "", .acl = kOpenAcl, .stat = {}});
  if (find(kConfigPath) != kNoNode) return;
  std::string read_only;
  wire::Writer w(read_only);
  wire::encode_acl_list(w, {{wire::kRead, {"world", "anyone"}}});
  wire::StatPersisted stat;
  stat.aversion = -1;
  insert(zookeeper, {.path = kConfigPath, .data = "", .acl = acls_.acquire(read_only), .stat = stat});
}

void Tree::restore_root(const NewNode& node) {
  Node& root = nodes_.at(root_);
  digest_ -= digest_part("", root);
  data_bytes_ -= root.data_bytes();
  assign_stat(root, node.stat);
  root.acl = node.acl;
  replace_data(root, node.data);
  data_bytes_ += root.data_bytes();
  root.content_crc = content_crc("", node.data);
  digest_ += digest_part("", root);
}

bool Tree::has_path(NodeRef ref, std::string_view path) const {
  while (ref != root_) {
    const Node& node = nodes_.at(ref);
    const std::string_view name = node.name();
    if (path.size() <= name.size()) return false;
    const std::size_t slash = path.size() - name.size() - 1;
    if (path[slash] != '/' || !same_bytes(path.data() + slash + 1, name.data(), name.size())) return false;
    path = path.substr(0, slash);
    ref = node.parent;
  }
  return path.empty();
}

NodeRef Tree::find(const Hashed& path) const {
  if (path.bytes.size() <= 1) return path.bytes.empty() || path.bytes == "/" ? root_ : kNoNode;
  return index_.find(path.hash, [&](NodeRef ref) { return has_path(ref, path.bytes); });
}

const Node* Tree::get(const Hashed& path) const {
  const NodeRef ref = find(path);
  return ref == kNoNode ? nullptr : &nodes_.at(ref);
}

std::string Tree::path_of(NodeRef ref) const {
  if (ref == root_) return "/";
  std::size_t length = 0;
  for (NodeRef r = ref; r != root_; r = nodes_.at(r).parent) length += 1 + nodes_.at(r).name_length;
  std::string path(length, '/');
  for (NodeRef r = ref; r != root_; r = nodes_.at(r).parent) {
    const std::string_view name = nodes_.at(r).name();
    length -= name.size();
    path.replace(length, name.size(), name);
    --length;
  }
  return path;
}

wire::Stat Tree::stat(const Node& n) const {
  wire::Stat s;
  s.czxid = n.czxid;
  s.mzxid = n.mzxid;
  s.ctime = n.ctime;
  s.mtime = n.mtime;
  s.version = n.version;
  // We store the number of creates, but Stat.cversion counts creates *and* deletes. Every create has had
  // its delete except for the children still here, hence 2 * creates - children. (Upstream:
  // DataNode.copyStat.) The product may wrap, as it does in Java.
  s.cversion = static_cast<std::int32_t>(2u * static_cast<std::uint32_t>(n.cversion) - n.child_count);
  s.aversion = n.aversion;
  s.ephemeral_owner = kind_of(n.ephemeral_owner, options_) == NodeKind::kEphemeral ? n.ephemeral_owner : 0;
  s.data_length = n.data_length < 0 ? 0 : n.data_length;
  s.num_children = static_cast<std::int32_t>(n.child_count);
  s.pzxid = n.pzxid;
  return s;
}

Tree::Below Tree::below(NodeRef ref) const {
  if (ref == root_) return below_root_;
  const auto found = below_.find(ref);
  return found == below_.end() ? Below{} : found->second;
}

// To remove, add a negative number; for the count this works modulo 2^64.
void Tree::count_below(NodeRef parent, const Below& change) {
  for (; parent != root_; parent = nodes_.at(parent).parent) {
    const auto entry = below_.try_emplace(parent).first;
    entry->second.nodes += change.nodes;
    entry->second.data_bytes += change.data_bytes;
    if (entry->second.nodes == 0) below_.erase(entry);
  }
  below_root_.nodes += change.nodes;
  below_root_.data_bytes += change.data_bytes;
}

const NodeSet* Tree::ephemerals_of(SessionId session) const {
  const auto found = ephemerals_.find(session);
  return found == ephemerals_.end() ? nullptr : &found->second;
}

NodeRef Tree::insert(NodeRef parent, const NewNode& fresh, std::uint64_t hash) {
  const NodeRef ref = nodes_.allocate();
  Node& node = nodes_.at(ref);
  assign_stat(node, fresh.stat);
  node.acl = fresh.acl;
  store_name_and_data(node, base_name(fresh.path), fresh.data);
  node.content_crc = content_crc(fresh.path, fresh.data);
  link(parent, ref);
  if (walks_.any()) tell_listings_of(ref);
  index_.insert(hash, ref);
  track(ref, node);
  digest_ += digest_part(fresh.path, node);
  data_bytes_ += fresh.path.size() + node.data_bytes();
  count_below(parent, {1, static_cast<std::int64_t>(node.data_bytes())});
  return ref;
}

void Tree::remove(NodeRef ref, std::string_view path) {
  Node& node = nodes_.at(ref);
  ENSURE(ref != root_, "the root is never removed");
  ENSURE(node.child_count == 0, "a node with children is never removed");
  if (walks_.any()) step_off(ref);
  digest_ -= digest_part(path, node);
  data_bytes_ -= path.size() + node.data_bytes();
  count_below(node.parent, {static_cast<std::size_t>(-1), -static_cast<std::int64_t>(node.data_bytes())});
  untrack(ref, node);
  acls_.release(node.acl);
  index_.erase(hashed(path).hash, ref);
  unlink(ref);
  blobs_.release(node.bytes, node.name_length + node.data_bytes());
  node.bytes = nullptr;
  nodes_.release(ref);
}

// Moves walks off a node that is about to be removed, to the next node.
void Tree::step_off(NodeRef ref) {
  const NodeRef behind = successor(ref, /*with_children=*/false);
  walks_.for_each([&](WalkPlaces::Place& walk) {
    if (walk.next == ref) walk.next = behind;
    if (walk.listing && !walk.cut_off) walk.listing->on_removed(ref);
  });
}

void Tree::tell_listings_of(NodeRef added) {
  walks_.for_each([&](const WalkPlaces::Place& walk) {
    if (walk.listing && !walk.cut_off) walk.listing->on_added(added);
  });
}

template <class Change>
void Tree::change_counted(NodeRef ref, std::string_view path, Change change) {
  Node& node = nodes_.at(ref);
  if (path == "/") path = "";
  digest_ -= digest_part(path, node);
  change(node, path);
  digest_ += digest_part(path, node);
}

void Tree::set_data(NodeRef ref, std::string_view path, const wire::Nullable& data,
                    const wire::StatPersisted& stat) {
  change_counted(ref, path, [&](Node& node, std::string_view key) {
    const auto before = static_cast<std::int64_t>(node.data_bytes());
    data_bytes_ -= node.data_bytes();
    assign_stat(node, stat);
    replace_data(node, data);
    node.content_crc = content_crc(key, data);
    data_bytes_ += node.data_bytes();
    const std::int64_t more = static_cast<std::int64_t>(node.data_bytes()) - before;
    if (more != 0 && ref != root_) count_below(node.parent, {0, more});
  });
}

void Tree::rewrite_data(NodeRef ref, std::string_view path, const wire::Nullable& data) {
  set_data(ref, path, data, persisted_stat(nodes_.at(ref)));
}

void Tree::set_acl(NodeRef ref, std::string_view path, AclId acl, std::int32_t aversion) {
  change_counted(ref, path, [&](Node& node, std::string_view) {
    acls_.release(node.acl);
    node.acl = acl;
    node.aversion = aversion;
  });
}

void Tree::set_child_version(NodeRef ref, std::string_view path, std::int32_t cversion, Zxid pzxid) {
  change_counted(ref, path, [&](Node& node, std::string_view) {
    node.cversion = cversion;
    node.pzxid = pzxid;
  });
}

void Tree::link(NodeRef parent_ref, NodeRef child_ref) {
  Node& parent = nodes_.at(parent_ref);
  Node& child = nodes_.at(child_ref);
  child.parent = parent_ref;
  child.next_sibling = parent.first_child;
  if (parent.first_child != kNoNode) nodes_.at(parent.first_child).prev_sibling = child_ref;
  parent.first_child = child_ref;
  ++parent.child_count;
}

void Tree::unlink(NodeRef child_ref) {
  Node& child = nodes_.at(child_ref);
  Node& parent = nodes_.at(child.parent);
  if (child.next_sibling != kNoNode) nodes_.at(child.next_sibling).prev_sibling = child.prev_sibling;
  if (child.prev_sibling != kNoNode) {
    nodes_.at(child.prev_sibling).next_sibling = child.next_sibling;
  } else {
    parent.first_child = child.next_sibling;
  }
  --parent.child_count;
}

void Tree::store_name_and_data(Node& node, std::string_view name, const wire::Nullable& data) {
  node.bytes = blobs_.allocate(name.size() + (data ? data->size() : 0));
  node.name_length = static_cast<std::uint32_t>(name.size());
  if (!name.empty()) std::memcpy(node.bytes, name.data(), name.size());
  copy_data(node, data);
}

void Tree::replace_data(Node& node, const wire::Nullable& data) {
  const std::size_t old_bytes = node.name_length + node.data_bytes();
  const std::size_t new_bytes = node.name_length + (data ? data->size() : 0);
  if (!BlobArena::same_class(old_bytes, new_bytes)) {
    char* old = node.bytes;
    node.bytes = blobs_.allocate(new_bytes);
    if (node.name_length > 0) std::memcpy(node.bytes, old, node.name_length);
    blobs_.release(old, old_bytes);
  }
  copy_data(node, data);
}

void Tree::copy_data(Node& node, const wire::Nullable& data) {
  if (data && !data->empty()) std::memcpy(node.bytes + node.name_length, data->data(), data->size());
  node.data_length = data ? static_cast<std::int32_t>(data->size()) : -1;
}

void Tree::track(NodeRef ref, const Node& node) {
  switch (kind_of(node.ephemeral_owner, options_)) {
    case NodeKind::kPersistent: return;
    case NodeKind::kContainer: containers_.insert(ref); return;
    case NodeKind::kTtl: ttl_nodes_.insert(ref); return;
    case NodeKind::kEphemeral:
      ephemerals_[SessionId{node.ephemeral_owner}].insert(ref);
      ++ephemeral_count_;
      return;
  }
}

void Tree::untrack(NodeRef ref, const Node& node) {
  switch (kind_of(node.ephemeral_owner, options_)) {
    case NodeKind::kPersistent: return;
    case NodeKind::kContainer: containers_.erase(ref); return;
    case NodeKind::kTtl: ttl_nodes_.erase(ref); return;
    case NodeKind::kEphemeral: {
      const auto owned = ephemerals_.find(SessionId{node.ephemeral_owner});
      ENSURE(owned != ephemerals_.end() && owned->second.erase(ref) == 1,
             "every ephemeral is listed with its session");
      if (owned->second.empty()) ephemerals_.erase(owned);
      --ephemeral_count_;
      return;
    }
  }
}

NodeRef Tree::successor(NodeRef ref, bool with_children) const {
  if (with_children && nodes_.at(ref).first_child != kNoNode) return nodes_.at(ref).first_child;
  while (ref != root_) {
    if (nodes_.at(ref).next_sibling != kNoNode) return nodes_.at(ref).next_sibling;
    ref = nodes_.at(ref).parent;
  }
  return kNoNode;
}

}  // namespace drover::state
