// SPDX-License-Identifier: Apache-2.0
#include "host/state_walk.h"

#include "storage/snapshot_body.h"
#include "storage/snapshot_stream.h"

namespace drover::host {

void SnapshotWalk::write_beginning(storage::SnapshotWriter& writer) const {
  writer.begin_sessions(static_cast<std::uint32_t>(beginning_.sessions.size()));
  for (const auto& [session, timeout_ms] : beginning_.sessions) writer.session(session, timeout_ms);
  writer.begin_acls(static_cast<std::uint32_t>(beginning_.acls.size()));
  for (const auto& [key, list] : beginning_.acls) writer.acl(key, list->bytes);
}

WalkProgress SnapshotWalk::step(const replica::SnapshotStepLimits& limits) {
  const WalkProgress progress = cursor_.step(nodes_, limits);
  if (progress == WalkProgress::kEnd) {
    if (machine_.options.digest_enabled) {
      seals_.digest =
          storage::SnapshotDigest{machine_.last_zxid, storage::kDigestVersion, machine_.tree.digest()};
    }
    seals_.last_processed = machine_.last_zxid;
  }
  return progress;
}

void SnapshotWalk::write_nodes(storage::SnapshotWriter& writer) {
  nodes_.for_each([&](const auto&... node) { writer.node(node...); });
  node_count_ += nodes_.size();
  bytes_ += nodes_.bytes() + nodes_.size() * (wire::kStatPersistedBytes + 16);
}

Zxid StateStream::begin(std::string& out) {
  const replica::SnapshotBeginning beginning = cursor_.begin();
  storage::append_snapshot_sessions(out, beginning.sessions);
  storage::append_snapshot_acls(out, beginning.acls);
  return beginning.zxid;
}

WalkProgress StateStream::step(const replica::SnapshotStepLimits& limits) {
  const WalkProgress progress = cursor_.step(nodes_, limits);
  at_end_ = progress == WalkProgress::kEnd;
  return progress;
}

void StateStream::append_to(std::string& out) {
  nodes_.for_each([&](const auto&... node) { storage::append_snapshot_node(out, node...); });
  if (!at_end_) return;
  storage::append_snapshot_stream_end(out);
  out.append(behind_);
}

}  // namespace drover::host
