// SPDX-License-Identifier: Apache-2.0
//
// The tree at every zxid: replays the committed transactions, and forgets nothing.
//
// Each path keeps the versions of its node and the events that its watchers should have received. A read at
// zxid z must show the last version not after z; a watch set at z must fire by the first event after z.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/hash.h"
#include "base/ids.h"
#include "base/time.h"
#include "state/apply.h"
#include "state/machine.h"
#include "state/options.h"
#include "state/pending_changes.h"
#include "state/prepare.h"
#include "wire/records.h"
#include "wire/replies.h"
#include "wire/txns.h"

namespace drover::sim {

// A path that was ever read or changed.
enum class PathId : std::uint32_t {};

// The node of one path, starting with one transaction.
struct NodeVersion {
  Zxid zxid{};
  bool exists = false;
  bool has_data = false;
  std::string data;
  wire::Stat stat;
  std::uint64_t children = 0;  // sum of the hashes of their names: equal sets have equal sums
  state::AclListPtr acl;       // null: open
};

// An event that watchers of a path should receive.
struct TreeChange {
  Zxid zxid{};
  wire::EventType type{};
  PathId path{};
};

std::uint64_t hash_of_child(std::string_view name);
std::uint64_t digest_of(const state::SessionTable& sessions);

class Model {
 public:
  explicit Model(const state::Options& options);

  // Applies the next committed transaction.
  const state::ApplyResult& apply(const wire::TxnEntry& txn);
  // The transaction that a leader should have made from the request, in the current state.
  std::string decide(const state::WriteRequest& request, Zxid zxid, WallTime time);

  const state::Machine& machine() const { return machine_; }
  Zxid last() const { return machine_.last_zxid; }
  std::uint64_t sessions_digest() const { return sessions_digest_; }

  PathId path(std::string_view path);
  const std::string& name(PathId id) const { return record(id).path; }
  // The parent path; the root's is the root.
  PathId parent(PathId id) const { return record(id).parent; }
  // The node as `zxid` left it; null: it never existed.
  const NodeVersion* at(std::string_view path, Zxid zxid) const;

  // Events at this path, and events other than children's at or below it, in the order in which they fire.
  const std::vector<TreeChange>& changes(PathId id) const { return record(id).changes; }
  const std::vector<TreeChange>& changes_below(PathId id) const { return record(id).below; }
  // The changes of the last transaction.
  const std::vector<TreeChange>& last_changes() const { return last_changes_; }

 private:
  struct Record {
    std::string path;
    PathId parent{};
    std::uint64_t children = 0;  // as in NodeVersion, now
    Zxid touched{};
    std::vector<NodeVersion> versions;
    std::vector<TreeChange> changes;
    std::vector<TreeChange> below;
  };

  Record& record(PathId id) { return records_[static_cast<std::size_t>(id)]; }
  const Record& record(PathId id) const { return records_[static_cast<std::size_t>(id)]; }
  void note_event(const state::TreeEvent& event);
  void count_child(PathId child, bool there);
  void touch(PathId id);
  void add_version(PathId id);
  void count_session(const wire::TxnEntry& txn);
  void touch_swept(const wire::TxnEntry& txn);

  state::Machine machine_;
  state::PendingChanges pending_;
  state::TreeEvents events_;
  state::ApplyResult result_;
  std::uint64_t sessions_digest_ = 0;
  std::deque<Record> records_;
  boost::unordered_flat_map<std::string, PathId, KeyedHash, std::equal_to<>> ids_;
  std::vector<PathId> touched_;  // by the current transaction
  std::vector<TreeChange> last_changes_;
};

}  // namespace drover::sim
