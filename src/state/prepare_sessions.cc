// SPDX-License-Identifier: Apache-2.0
//
// createSession, closeSession and reconfig.
#include <algorithm>
#include <iterator>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/hash.h"
#include "base/path.h"
#include "state/preparation.h"

namespace drover::state {
namespace {

struct ByParent {
  std::vector<std::string> firsts;  // one child of each parent
  std::vector<std::string> others;
};

ByParent by_parent(std::vector<std::string> paths, const HashKey& key) {
  std::vector<bool> is_first(paths.size());
  boost::unordered_flat_set<std::string_view, KeyedHash> parents(0, KeyedHash{key});
  for (std::size_t i = 0; i < paths.size(); ++i) is_first[i] = parents.insert(parent_path(paths[i])).second;
  ByParent split;
  for (std::size_t i = 0; i < paths.size(); ++i)
    (is_first[i] ? split.firsts : split.others).push_back(std::move(paths[i]));
  return split;
}

}  // namespace

Result<void> Preparation::create_session(std::string& out) {
  TRY(session_alive());
  wire::Reader r(request_.body);
  const std::int32_t timeout_ms = r.i32();
  if (!r.ok()) return std::unexpected(ErrorCode::kMarshallingError);
  wire::Writer w(out);
  wire::encode(w, wire::CreateSessionTxn{timeout_ms});
  return {};
}

// What the session owns now, what requests in flight will still give it, less what they take.
std::vector<std::string> Preparation::ephemerals() const {
  std::vector<std::string> owned;
  if (const NodeSet* nodes = m_.tree.ephemerals_of(request_.session)) {
    owned.reserve(nodes->size());
    for (const NodeRef ref : *nodes) owned.push_back(m_.tree.path_of(ref));
    std::sort(owned.begin(), owned.end());
  }
  std::vector<std::string> more;
  std::vector<std::string> less;
  pending_.for_each([&](const std::string& path, const NodeFacts& node) {
    const bool will_own = node.exists && node.stat.ephemeral_owner == raw(request_.session);
    const bool owns = std::binary_search(owned.begin(), owned.end(), path);
    if (will_own != owns) (will_own ? more : less).push_back(path);
  });
  if (more.empty() && less.empty()) return owned;
  std::sort(more.begin(), more.end());
  std::sort(less.begin(), less.end());
  std::vector<std::string> kept;
  std::set_difference(owned.begin(), owned.end(), less.begin(), less.end(), std::back_inserter(kept));
  std::vector<std::string> all;
  std::set_union(kept.begin(), kept.end(), more.begin(), more.end(), std::back_inserter(all));
  return all;
}

// Nothing is cut as long as everything fits. Otherwise one child of each parent comes first; of these, what
// does not fit is left for a sweep.
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
  const auto [firsts, others] = by_parent(std::move(paths), m_.options.hash_key);
  std::vector<std::string> listed;
  for (const std::string& path : firsts) (take(path) ? listed : unlisted_).push_back(path);
  std::copy_if(others.begin(), others.end(), std::back_inserter(listed), take);
  return listed;
}

Result<void> Preparation::close_session(std::string& out) {
  std::vector<std::string> paths = ephemerals();
  for (const std::string& path : paths) {
    const auto parent = pending_.find(parent_path(path));
    const auto node = pending_.find(path);
    if (parent) count_child(parent_path(path), *parent, -1);
    if (node) forget(path, *node);
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

// The operation itself belongs to ensembles; a server of its own answers as Java's does.
Result<void> Preparation::reconfig() {
  undecodable_ = !wire::is_reconfig_request(request_.body);
  if (undecodable_) return std::unexpected(ErrorCode::kMarshallingError);
  if (!m_.options.reconfig_enabled) return std::unexpected(ErrorCode::kReconfigDisabled);
  TRY(session_alive());
  return std::unexpected(ErrorCode::kUnimplemented);
}

}  // namespace drover::state
