// SPDX-License-Identifier: Apache-2.0
//
// Copies the whole state step by step while transactions go on: for a snapshot file, and for a learner that
// is synced with a snapshot.
//
// The copy is fuzzy: it holds everything up to the zxid of begin(), and some of what came after. Replaying
// the transactions after that zxid is idempotent, and makes it exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "state/machine.h"
#include "wire/jute.h"
#include "wire/records.h"

namespace drover::replica {

struct SnapshotBeginning {
  Zxid zxid{};  // the last transaction applied: the snapshot's name
  std::vector<std::pair<SessionId, std::int32_t>> sessions;  // with timeouts in ms
  std::vector<std::pair<std::int64_t, state::AclListPtr>> acls;
};

// Nodes copied out of the tree, so that their users need no lock.
class SnapshotNodes {
 public:
  void clear();
  // In the form that snapshots use: the root's path is "".
  void add(std::string_view path, const state::Node& node);

  std::size_t size() const { return items_.size(); }
  std::size_t bytes() const { return bytes_.size(); }  // of paths and data

  // Calls visit(path, data, ACL key, stat), in the order in which they were added.
  template <class Visit>
  void for_each(Visit visit) const {
    std::string_view rest = bytes_;
    for (const Item& item : items_) {
      const std::string_view path = rest.substr(0, item.path_bytes);
      const std::string_view data = rest.substr(item.path_bytes, item.data_bytes);
      rest.remove_prefix(item.path_bytes + item.data_bytes);
      visit(path, item.null_data ? wire::Nullable{} : wire::Nullable{data}, item.acl, item.stat);
    }
  }

 private:
  struct Item {
    std::size_t path_bytes;
    std::size_t data_bytes;
    bool null_data;
    std::int64_t acl;
    wire::StatPersisted stat;
  };
  std::string bytes_;  // path, data, path, data, …
  std::vector<Item> items_;
};

// How much is copied at a time. It decides how long a writer may have to wait: some tens of microseconds.
struct SnapshotStepLimits {
  std::size_t nodes = 256;
  std::size_t bytes = 256 * 1024;  // the node that reaches this is the last
};

// One walk over the machine's state. The machine outlives it. begin(), step(), end() and the destructor read
// the state: the caller must keep the writer out during each call, and may let it in between any two calls.
class SnapshotCursor {
 public:
  enum class Progress : std::uint8_t {
    kMore,
    kEnd,     // all nodes were seen; what is written under the same lock is the end of the snapshot
    kCutOff,  // the tree was cleared: there is no snapshot, and the copy so far is worthless
  };

  explicit SnapshotCursor(state::Machine& machine) : machine_(machine) {}

  SnapshotBeginning begin();
  // Replaces the content of `nodes` with the next ones; kEnd may come with some too.
  Progress step(SnapshotNodes& nodes, const SnapshotStepLimits& limits = {});
  // Stops a walk before its end; harmless otherwise.
  void end() { walk_.reset(); }

 private:
  Progress finished(Progress progress);

  state::Machine& machine_;
  std::optional<state::Tree::Walk> walk_;
  std::optional<Progress> finished_;
};

}  // namespace drover::replica
