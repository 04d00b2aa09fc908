// SPDX-License-Identifier: Apache-2.0
#include "state/apply.h"

#include <algorithm>

#include "base/path.h"

namespace drover::state {
namespace {

using wire::EventType;
using wire::OpCode;

constexpr std::int64_t kDigestLogInterval = 128;
constexpr std::size_t kDigestLogLength = 1024;

AclListPtr filter_of(const Tree& tree, const Node& node) {
  return node.acl == kOpenAcl ? nullptr : tree.acl(node);
}

// Events call the root "/", although the parent path of its children is "".
std::string_view event_path(std::string_view parent) { return parent.empty() ? kRootPath : parent; }

// Applies one transaction to the machine.
class Application {
 public:
  Application(Machine& machine, const wire::TxnHeader& header, TreeEvents& events)
      : m_(machine), tree_(machine.tree), header_(header), events_(events) {}

  ApplyResult run(OpCode type, const wire::TxnRecord& record) {
    ApplyResult result{
        .type = type, .error = ErrorCode::kOk, .path = {}, .stat = {}, .data = {}, .multi = {}};
    std::visit([&](const auto& txn) { apply(type, txn, result); }, record);
    return result;
  }

 private:
  void apply(OpCode type, const wire::CreateTxn& txn, ApplyResult& result);
  void apply(OpCode type, const wire::DeleteTxn& txn, ApplyResult& result);
  void apply(OpCode type, const wire::SetDataTxn& txn, ApplyResult& result);
  void apply(OpCode type, const wire::SetAclTxn& txn, ApplyResult& result);
  void apply(OpCode, const wire::CheckTxn& txn, ApplyResult& result) { result.path = txn.path; }
  void apply(OpCode, const wire::CreateSessionTxn& txn, ApplyResult&) {
    m_.sessions.insert_or_assign(header_.session, txn.timeout_ms);
  }
  void apply(OpCode type, const wire::CloseSessionTxn& txn, ApplyResult& result);
  void apply(OpCode, const wire::ErrorTxn& txn, ApplyResult& result) { result.error = txn.error; }
  void apply(OpCode type, const wire::MultiTxn& txn, ApplyResult& result);

  void create_again(NodeRef parent, NodeRef existing, const wire::CreateTxn& txn);
  bool raise_child_version(NodeRef parent, std::string_view parent_path, std::int32_t cversion);
  ErrorCode remove(std::string_view path);
  void remove_below(NodeRef ref);
  // During replay: the transaction refers to an earlier node of this path, which has been deleted since.
  bool is_later(const Node& node) const { return node.czxid > header_.zxid; }
  std::int64_t owner_of(OpCode type, const wire::CreateTxn& txn) const;
  void emit(EventType type, std::string_view path, AclListPtr acl) {
    events_.list.push_back({type, path, std::move(acl)});
  }

  Machine& m_;
  Tree& tree_;
  const wire::TxnHeader& header_;
  TreeEvents& events_;
};

std::int64_t Application::owner_of(OpCode type, const wire::CreateTxn& txn) const {
  if (type == OpCode::kCreateContainer) return kContainerOwner;
  if (type == OpCode::kCreateTtl) return owner_of_ttl(txn.ttl_ms);
  return txn.ephemeral ? raw(header_.session) : 0;
}

// Never lowers the counter: a create may be replayed on a tree that already contains later ones.
bool Application::raise_child_version(NodeRef parent, std::string_view path, std::int32_t cversion) {
  const Node& node = tree_.at(parent);
  const auto now = static_cast<std::uint32_t>(node.cversion);
  if (cversion == -1) cversion = static_cast<std::int32_t>(now + 1u);
  // The counter wraps to negative numbers, so the distance decides which value is later.
  if (static_cast<std::int32_t>(static_cast<std::uint32_t>(cversion) - now) <= 0) return false;
  tree_.set_child_version(parent, path, cversion, header_.zxid);
  return true;
}

void Application::create_again(NodeRef parent, NodeRef existing, const wire::CreateTxn& txn) {
  const Node& node = tree_.at(existing);
  tree_.set_acl(existing, txn.path, tree_.acls().acquire(txn.acl), node.aversion);
  raise_child_version(parent, parent_path(txn.path), txn.parent_cversion);
}

void Application::apply(OpCode type, const wire::CreateTxn& txn, ApplyResult& result) {
  result.path = txn.path;
  const std::string_view parent_of = parent_path(txn.path);
  // The log may come from anybody. The root is not the parent of "//a": the node would be found only as "/a".
  const bool is_path = txn.path.starts_with('/') && !txn.path.starts_with("//");
  const NodeRef parent = is_path ? tree_.find(parent_of) : kNoNode;
  if (parent == kNoNode) {
    result.error = ErrorCode::kNoNode;
    return;
  }
  const Hashed path = tree_.hashed(txn.path);
  if (const NodeRef existing = tree_.find(path); existing != kNoNode) {
    result.error = ErrorCode::kNodeExists;
    create_again(parent, existing, txn);
    return;
  }
  raise_child_version(parent, parent_of, txn.parent_cversion);
  wire::StatPersisted stat;
  stat.czxid = stat.mzxid = stat.pzxid = header_.zxid;
  stat.ctime = stat.mtime = header_.time_ms;
  stat.ephemeral_owner = owner_of(type, txn);
  const NodeRef ref =
      tree_.insert(parent, {txn.path, txn.data, tree_.acls().acquire(txn.acl), stat}, path.hash);
  const Node& node = tree_.at(ref);
  result.stat = tree_.stat(node);
  m_.quotas.on_create(tree_, txn.path, node.data_bytes());
  emit(EventType::kNodeCreated, txn.path, filter_of(tree_, node));
  emit(EventType::kNodeChildrenChanged, event_path(parent_of), filter_of(tree_, tree_.at(parent)));
}

// Happens only during replay: the snapshot contains a later node of this path with its own children, whose
// creation is still to be replayed.
void Application::remove_below(NodeRef ref) {
  while (tree_.at(ref).first_child != kNoNode) {
    NodeRef leaf = tree_.at(ref).first_child;
    while (tree_.at(leaf).first_child != kNoNode) leaf = tree_.at(leaf).first_child;
    const std::string path = tree_.path_of(leaf);
    const std::size_t data_bytes = tree_.at(leaf).data_bytes();
    tree_.remove(leaf, path);
    m_.quotas.on_delete(tree_, path, data_bytes);
  }
}

ErrorCode Application::remove(std::string_view path) {
  const std::string_view parent_of = parent_path(path);
  const NodeRef parent = path.starts_with('/') ? tree_.find(parent_of) : kNoNode;
  if (parent == kNoNode || path == kRootPath) return ErrorCode::kNoNode;
  // Also if the child is already gone; otherwise a replayed delete would leave an old pzxid.
  const Node& above = tree_.at(parent);
  if (header_.zxid > above.pzxid) tree_.set_child_version(parent, parent_of, above.cversion, header_.zxid);
  const NodeRef ref = tree_.find(path);
  if (ref == kNoNode) return ErrorCode::kNoNode;

  remove_below(ref);
  const std::size_t data_bytes = tree_.at(ref).data_bytes();
  AclListPtr acl = filter_of(tree_, tree_.at(ref));
  tree_.remove(ref, path);
  m_.quotas.on_delete(tree_, path, data_bytes);
  emit(EventType::kNodeDeleted, path, std::move(acl));
  emit(EventType::kNodeChildrenChanged, event_path(parent_of), filter_of(tree_, tree_.at(parent)));
  return ErrorCode::kOk;
}

void Application::apply(OpCode, const wire::DeleteTxn& txn, ApplyResult& result) {
  result.path = txn.path;
  result.error = remove(txn.path);
}

void Application::apply(OpCode type, const wire::SetDataTxn& txn, ApplyResult& result) {
  result.path = txn.path;
  if (type == OpCode::kReconfig) result.data = txn.data;
  const NodeRef ref = tree_.find(txn.path);
  if (ref == kNoNode || is_later(tree_.at(ref))) {
    result.error = ErrorCode::kNoNode;
    return;
  }
  const Node& node = tree_.at(ref);
  const auto bytes_before = static_cast<std::int64_t>(node.data_bytes());
  wire::StatPersisted stat = persisted_stat(node);
  stat.mtime = header_.time_ms;
  stat.mzxid = header_.zxid;
  stat.version = txn.version;
  tree_.set_data(ref, txn.path, txn.data, stat);
  result.stat = tree_.stat(node);
  m_.quotas.on_set_data(tree_, txn.path, static_cast<std::int64_t>(node.data_bytes()) - bytes_before);
  emit(EventType::kNodeDataChanged, txn.path, filter_of(tree_, node));
}

void Application::apply(OpCode, const wire::SetAclTxn& txn, ApplyResult& result) {
  result.path = txn.path;
  const NodeRef ref = tree_.find(txn.path);
  if (ref == kNoNode || is_later(tree_.at(ref))) {
    result.error = ErrorCode::kNoNode;
    return;
  }
  tree_.set_acl(ref, txn.path, tree_.acls().acquire(txn.acl), txn.version);
  result.stat = tree_.stat(tree_.at(ref));
}

void Application::apply(OpCode, const wire::CloseSessionTxn& txn, ApplyResult&) {
  m_.sessions.erase(header_.session);
  // During replay the path may already belong to a later node; its creation is still to be replayed.
  for (const std::string_view path : txn.paths) remove(path);
  // Logs from before 3.6 do not list the paths, and lists that are too long are cut.
  const NodeSet* left = tree_.ephemerals_of(header_.session);
  if (!left) return;
  std::vector<std::string> unlisted;
  unlisted.reserve(left->size());
  for (const NodeRef ref : *left) unlisted.push_back(tree_.path_of(ref));
  std::sort(unlisted.begin(), unlisted.end());
  for (std::string& path : unlisted) {
    events_.owned.push_back(std::move(path));
    remove(events_.owned.back());
  }
}

void Application::apply(OpCode, const wire::MultiTxn& txn, ApplyResult& result) {
  const bool failed = std::any_of(txn.txns.begin(), txn.txns.end(),
                                  [](const auto& sub) { return sub.type == OpCode::kError; });
  bool behind_failure = false;
  result.multi.reserve(txn.txns.size());
  for (const wire::SubTxn& sub : txn.txns) {
    if (sub.type == OpCode::kError) behind_failure = true;
    if (failed && sub.type != OpCode::kError) {
      const ErrorCode error = behind_failure ? ErrorCode::kRuntimeInconsistency : ErrorCode::kOk;
      result.multi.push_back(
          {.type = OpCode::kError, .error = error, .path = {}, .stat = {}, .data = {}, .multi = {}});
      continue;
    }
    wire::Reader r(sub.record);
    const auto record = wire::decode_txn_record(r, sub.type, /*in_multi=*/true);
    if (!record) continue;  // Prepare never accepts such bytes; a damaged log is found by its checksum.
    result.multi.push_back(run(sub.type, *record));
    if (result.error == ErrorCode::kOk) result.error = result.multi.back().error;
  }
}

}  // namespace

ApplyResult apply(Machine& machine, const wire::TxnEntry& txn, TreeEvents& events) {
  ApplyResult result = Application(machine, txn.header, events).run(txn.header.type, txn.record);
  machine.last_zxid = std::max(machine.last_zxid, txn.header.zxid);
  if (raw(txn.header.zxid) % kDigestLogInterval == 0) {
    machine.digest_log.emplace_back(txn.header.zxid, machine.tree.digest());
    if (machine.digest_log.size() > kDigestLogLength) machine.digest_log.pop_front();
  }
  return result;
}

}  // namespace drover::state
