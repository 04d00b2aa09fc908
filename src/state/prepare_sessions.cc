// SPDX-License-Identifier: Apache-2.0
//
// createSession, closeSession and reconfig.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/path.h"
#include "state/digest.h"
#include "state/preparation.h"

namespace drover::state {
namespace {

struct ByParent {
  std::vector<std::string> firsts;  // one child of each parent
  std::vector<std::string> others;
};

// Expects the children of each parent to be adjacent. If they are not, a parent gets two firsts, which is
// harmless.
ByParent by_parent(std::vector<std::string> paths) {
  ByParent split;
  std::optional<std::string> last_parent;  // "" is the root
  for (std::string& path : paths) {
    const bool is_first = parent_path(path) != last_parent;
    if (is_first) last_parent = parent_path(path);
    (is_first ? split.firsts : split.others).push_back(std::move(path));
  }
  return split;
}

}  // namespace

CodeResult<void> Preparation::create_session(std::string& out) {
  TRY(session_alive());
  wire::Reader r(request_.body);
  const std::int32_t timeout_ms = r.i32();
  if (!r.ok()) return std::unexpected(ErrorCode::kMarshallingError);
  wire::Writer w(out);
  wire::encode(w, wire::CreateSessionTxn{timeout_ms});
  return {};
}

Preparation::Ephemerals Preparation::ephemerals() const {
  const Tree& tree = m_.tree;
  // If the session is already about to end, its nodes in the tree count as deleted.
  const NodeSet* owned =
      pending_.is_ending(request_.session) ? nullptr : tree.ephemerals_of(request_.session);
  Ephemerals found;
  NodeSet changing;
  pending_.for_each([&](const std::string& path, const NodeFacts& node) {
    if (node.exists && node.stat.ephemeral_owner == raw(request_.session)) found.changing.push_back(path);
    if (owned) changing.insert(tree.find(path));
  });
  std::sort(found.changing.begin(), found.changing.end());
  if (!owned) return found;
  found.settled.reserve(owned->size());
  std::copy_if(owned->begin(), owned->end(), std::back_inserter(found.settled),
               [&](NodeRef ref) { return !changing.contains(ref); });
  return found;
}

// Records the deletion of nodes that nothing in flight changes: one record per parent and one for all of the
// nodes. There may be hundreds of thousands of nodes, and nothing else happens meanwhile. Returns their
// paths, sorted by parent and name.
std::vector<std::string> Preparation::end_settled(std::vector<NodeRef> nodes) {
  const Tree& tree = m_.tree;
  std::sort(nodes.begin(), nodes.end(), [&](NodeRef a, NodeRef b) {
    const Node& one = tree.at(a);
    const Node& other = tree.at(b);
    return one.parent != other.parent ? one.parent < other.parent : one.name() < other.name();
  });
  std::vector<std::string> paths;
  paths.reserve(nodes.size());
  PendingChanges::OwnedNodes gone{.count = nodes.size()};
  for (auto node = nodes.begin(); node != nodes.end();) {
    const NodeRef parent = tree.at(*node).parent;
    const std::string above = tree.path_of(parent);
    const std::string prefix = parent == tree.root() ? above : above + "/";
    std::int32_t children = 0;
    for (; node != nodes.end() && tree.at(*node).parent == parent; ++node, ++children) {
      const Node& child = tree.at(*node);
      paths.push_back(prefix);
      paths.back() += child.name();
      if (counts_in_digest(paths.back()))
        gone.digest += node_digest(child.content_crc, persisted_stat(child));
    }
    if (const auto facts = pending_.find(above)) count_child(above, *facts, -children);
  }
  pending_.end_session(request_.session, zxid_, gone);
  return paths;
}

// If everything fits, nothing is cut. Otherwise one child of each parent comes first; those that do not fit
// are left for a sweep.
std::vector<std::string> Preparation::list_what_fits(std::vector<std::string> paths) {
  constexpr std::size_t kEmptyListBytes = kAroundRecordBytes + 4;
  std::size_t bytes = kEmptyListBytes;
  const auto take = [&](const std::string& path) {
    const std::size_t more = 4 + path.size();
    if (bytes + more > m_.options.txn_bytes_max) return false;
    bytes += more;
    return true;
  };
  if (std::all_of(paths.begin(), paths.end(), take)) return paths;

  bytes = kEmptyListBytes;
  const auto [firsts, others] = by_parent(std::move(paths));
  std::vector<std::string> listed;
  for (const std::string& path : firsts) (take(path) ? listed : unlisted_).push_back(path);
  std::copy_if(others.begin(), others.end(), std::back_inserter(listed), take);
  return listed;
}

CodeResult<void> Preparation::close_session(std::string& out) {
  auto [settled, changing] = ephemerals();
  std::vector<std::string> paths = end_settled(std::move(settled));
  for (std::string& path : changing) {
    const auto parent = pending_.find(parent_path(path));
    const auto node = pending_.find(path);
    if (parent) count_child(parent_path(path), *parent, -1);
    if (node) forget(path, *node);
    paths.push_back(std::move(path));
  }
  if (!m_.options.close_session_paths) return {};
  wire::Writer w(out);
  wire::encode_paths(w, list_what_fits(std::move(paths)));
  return {};
}

std::size_t count_for_sweep(std::span<const std::string> paths, const Options& options) {
  constexpr std::size_t kCountBytes = 4;
  constexpr std::size_t kBytesPerPath = 4 + 4 + 4;  // type, length of the record, length of the path
  std::size_t bytes = kAroundRecordBytes + kCountBytes;
  std::size_t count = 0;
  for (const std::string& path : paths) {
    bytes += kBytesPerPath + path.size();
    if (bytes > options.txn_bytes_max) break;
    ++count;
  }
  return count;
}

void Preparation::sweep(std::span<const std::string> paths, std::string& out) {
  wire::Writer w(out);
  w.i32(static_cast<std::int32_t>(paths.size()));
  std::string record;
  for (const std::string& path : paths) {
    record.clear();
    wire::Writer r(record);
    wire::encode(r, wire::DeleteTxn{path});
    w.i32(static_cast<std::int32_t>(OpCode::kDelete));
    w.string(record);
    if (const auto parent = pending_.find(parent_path(path))) count_child(parent_path(path), *parent, 0);
  }
}

// The order of checks is Java's. The rule makes those that need the members, and the permission last.
CodeResult<void> Preparation::reconfig(std::string& out) {
  wire::Reader reader(request_.body);
  const auto asked = wire::decode_reconfig(reader);
  undecodable_ = !asked;
  if (undecodable_) return std::unexpected(ErrorCode::kMarshallingError);
  if (!m_.options.reconfig_enabled) return std::unexpected(ErrorCode::kReconfigDisabled);
  TRY(session_alive());
  if (!request_.reconfig) return std::unexpected(ErrorCode::kUnimplemented);
  TRY_ASSIGN(NodeFacts node, existing(kConfigPath));
  const bool may_write = allowed(node, wire::kWrite).has_value();
  TRY_ASSIGN(const std::string members, (*request_.reconfig)(*asked, zxid_, may_write));

  constexpr std::int32_t kVersion = -1;  // of this node, whatever happens to it
  wire::Writer w(out);
  wire::encode(w, wire::SetDataTxn{kConfigPath, members, kVersion});
  TRY(fits(out));
  const std::uint64_t digest_before = node.digest;
  node.stat.version = kVersion;
  node.stat.mtime = now_.ms;
  node.stat.mzxid = zxid_;
  node.data_bytes = static_cast<std::int64_t>(members.size());
  update(kConfigPath, node, digest_before);
  return {};
}

}  // namespace drover::state
