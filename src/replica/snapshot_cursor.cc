// SPDX-License-Identifier: Apache-2.0
#include "replica/snapshot_cursor.h"

#include "base/ensure.h"

namespace drover::replica {

void SnapshotNodes::clear() {
  bytes_.clear();
  items_.clear();
}

void SnapshotNodes::add(std::string_view path, const state::Node& node) {
  const wire::Nullable data = node.data();
  bytes_.append(path);
  if (data) bytes_.append(*data);
  items_.push_back({path.size(), data ? data->size() : 0, !data, static_cast<std::int32_t>(node.acl),
                    persisted_stat(node)});
}

SnapshotBeginning SnapshotCursor::begin() {
  finished_.reset();
  walk_.emplace(machine_.tree);
  SnapshotBeginning beginning;
  beginning.zxid = machine_.last_zxid;
  beginning.sessions.assign(machine_.sessions.begin(), machine_.sessions.end());
  beginning.acls = machine_.tree.acls().all();
  return beginning;
}

SnapshotCursor::Progress SnapshotCursor::step(SnapshotNodes& nodes, const SnapshotStepLimits& limits) {
  nodes.clear();
  if (finished_) return *finished_;
  ENSURE(walk_.has_value(), "a step comes after begin() and before end()");
  if (walk_->cut_off()) return finished(Progress::kCutOff);
  const state::Tree& tree = machine_.tree;
  while (nodes.size() < limits.nodes && nodes.bytes() < limits.bytes) {
    const state::NodeRef ref = walk_->position();
    if (ref == state::kNoNode) return finished(Progress::kEnd);
    nodes.add(ref == tree.root() ? std::string() : tree.path_of(ref), tree.at(ref));
    walk_->advance();
  }
  return Progress::kMore;
}

// Ends the walk at once: here the writer is kept out, but perhaps not when the cursor is destroyed.
SnapshotCursor::Progress SnapshotCursor::finished(Progress progress) {
  walk_.reset();
  finished_ = progress;
  return progress;
}

}  // namespace drover::replica
