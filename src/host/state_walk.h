// SPDX-License-Identifier: Apache-2.0
//
// Copies the state in memory to a file or to a learner, in small steps, while transactions go on.
//
// begin() and step() read the tree: the caller keeps the writer out during each call, and may let it in
// between any two. The other functions need no lock. What is copied is fuzzy: it holds at least everything up
// to the zxid of begin(), and replay of what comes after is idempotent.
#pragma once

#include <cstdint>
#include <string>

#include "replica/snapshot_cursor.h"
#include "state/machine.h"
#include "storage/snapshot_writer.h"

namespace drover::host {

using WalkProgress = replica::SnapshotCursor::Progress;

// To a snapshot file. Destroying it before its end reads the tree, too.
class SnapshotWalk {
 public:
  explicit SnapshotWalk(state::Machine& machine) : machine_(machine), cursor_(machine) {}

  void begin() { beginning_ = cursor_.begin(); }
  Zxid zxid() const { return beginning_.zxid; }
  void write_beginning(storage::SnapshotWriter& writer) const;

  WalkProgress step(const replica::SnapshotStepLimits& limits = {});
  // Writes what the last step has copied.
  void write_nodes(storage::SnapshotWriter& writer);

  // Valid after the last step. The digest is that of the end of the walk: replay compares it at that point.
  const storage::SnapshotSeals& seals() const { return seals_; }
  // The size of the written part.
  std::uint64_t nodes() const { return node_count_; }
  std::uint64_t bytes() const { return bytes_; }
  // Ends the walk early.
  void end() { cursor_.end(); }

 private:
  state::Machine& machine_;
  replica::SnapshotCursor cursor_;
  replica::SnapshotBeginning beginning_;
  replica::SnapshotNodes nodes_;
  storage::SnapshotSeals seals_;
  std::uint64_t node_count_ = 0;
  std::uint64_t bytes_ = 0;
};

// To a learner: the state, and behind it the packets that were sent to the learner meanwhile.
class StateStream {
 public:
  explicit StateStream(state::Machine& machine) : cursor_(machine) {}

  // Returns the zxid at which the state begins.
  Zxid begin(std::string& out);
  WalkProgress step(const replica::SnapshotStepLimits& limits = {});
  // Appends what the last step has copied. After the last one, also everything that was kept behind.
  void append_to(std::string& out);
  void keep_behind(std::string_view packets) { behind_.append(packets); }
  std::size_t bytes_behind() const { return behind_.size(); }

 private:
  replica::SnapshotCursor cursor_;
  replica::SnapshotNodes nodes_;
  bool at_end_ = false;
  std::string behind_;
};

}  // namespace drover::host
