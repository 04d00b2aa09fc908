// SPDX-License-Identifier: Apache-2.0
//
// The names of a node's children at one moment, copied in pieces while others write.
//
// A node may have a million children, too many for holding a lock all the time. But the list must be that of
// one moment: a client may take it for the members of a group. So the writer helps: a child that it removes
// before the copy has come to it is copied at once, and children that it adds are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "state/node.h"
#include "state/tree.h"
#include "state/walk_places.h"

namespace drover::state {

// A reader on one thread, like Tree::Walk: all calls, including the destructor, must not run during a write,
// except those for the writer. The tree and `out` outlive it.
class ChildListing {
 public:
  // Names are appended to `out` as jute strings, in no particular order.
  ChildListing(const Tree& tree, NodeRef parent, std::string& out);
  ~ChildListing();
  ChildListing(const ChildListing&) = delete;
  ChildListing& operator=(const ChildListing&) = delete;

  void copy(std::size_t most);
  bool complete() const { return left_ == 0; }
  // The tree was cleared before the list was complete.
  bool cut_off() const { return place_.cut_off && !complete(); }

  // --- called by the writer ---
  void on_added(NodeRef child);
  void on_removed(NodeRef child);

 private:
  void append(const Node& child);
  bool is_known(NodeRef ref) const;
  void remember(NodeRef ref);

  const Tree& tree_;
  NodeRef parent_;
  WalkPlaces::Place& place_;
  std::string& out_;
  std::size_t left_;  // children of that moment that are not in `out`
  // A bit for each number that a node had then: it is a child that was copied, or one that was added later.
  std::vector<std::uint64_t> known_;
};

}  // namespace drover::state
