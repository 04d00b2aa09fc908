// SPDX-License-Identifier: Apache-2.0
//
// createSession, closeSession and reconfig.
#include <set>

#include "base/path.h"
#include "state/preparation.h"

namespace drover::state {

Result<void> Preparation::create_session(std::string& out) {
  TRY(session_alive());
  wire::Reader r(request_.body);
  const std::int32_t timeout_ms = r.i32();
  if (!r.ok()) return std::unexpected(ErrorCode::kMarshallingError);
  wire::Writer w(out);
  wire::encode(w, wire::CreateSessionTxn{timeout_ms});
  return {};
}

Result<void> Preparation::close_session(std::string& out) {
  // What the session owns now, what requests in flight will still give it, less what they delete.
  std::set<std::string> paths;
  if (const NodeSet* owned = m_.tree.ephemerals_of(request_.session)) {
    for (const NodeRef ref : *owned) paths.insert(m_.tree.path_of(ref));
  }
  pending_.for_each([&](const std::string& path, const NodeFacts& node) {
    if (!node.exists) {
      paths.erase(path);
    } else if (node.stat.ephemeral_owner == raw(request_.session)) {
      paths.insert(path);
    } else {
      paths.erase(path);
    }
  });
  for (const std::string& path : paths) {
    const auto parent = pending_.find(parent_path(path));
    const auto node = pending_.find(path);
    if (parent) count_child(parent_path(path), *parent, -1);
    if (node) forget(path, *node);
  }
  if (!m_.options.close_session_paths) return {};
  wire::Writer w(out);
  wire::encode_paths(w, {paths.begin(), paths.end()});
  return {};
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
