// SPDX-License-Identifier: Apache-2.0
//
// The leader's view of changes that are proposed but not yet applied.
//
// prepare() must check a request against the tree as it *will* be after everything in flight is applied.
// Otherwise two pipelined creates of one path would both succeed. Owned by the replica; in an ensemble it
// exists only while this server leads.
//
// Invariant: every record's zxid is greater than the tree's last applied zxid.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_map.hpp>

#include "base/hash.h"
#include "base/ids.h"
#include "base/metric.h"
#include "state/acl_table.h"
#include "state/tree.h"
#include "wire/records.h"

namespace drover::state {

// The facts about a node that prepare needs.
struct NodeFacts {
  bool exists = true;
  std::int32_t child_count = 0;
  std::uint32_t content_crc = 0;
  std::uint64_t digest = 0;  // its part of the tree's digest
  std::int64_t data_bytes = 0;
  AclListPtr acl;  // null: open
  wire::StatPersisted stat;
};

// For the monitor: how many node changes ever became pending, and how many are no longer pending.
struct ChangeCounts {
  std::uint64_t queued = 0;
  std::uint64_t removed = 0;
};
inline constexpr MetricOf<ChangeCounts> kChangeMetrics[] = {
    {"outstanding_changes_queued", &ChangeCounts::queued},
    {"outstanding_changes_removed", &ChangeCounts::removed},
};

class PendingChanges {
 public:
  explicit PendingChanges(const Tree& tree, const ChangeCounts& before = {}) : tree_(tree), counts_(before) {}

  // The node after all pending changes; nullopt if it will not exist.
  std::optional<NodeFacts> find(std::string_view path) const;

  // Records the state of a node after transaction `zxid`. `digest_before` is the node's digest as of find()
  // (0 if there was no node).
  void put(std::string_view path, Zxid zxid, const NodeFacts& after, std::uint64_t digest_before);

  // Records that transaction `zxid` ends a session. This deletes the session's nodes in the tree, except
  // those that have their own record. There is one record for all of them, because a session may own very
  // many. The caller passes their number and their part of the digest.
  struct OwnedNodes {
    std::uint64_t count = 0;
    std::uint64_t digest = 0;
  };
  void end_session(SessionId session, Zxid zxid, const OwnedNodes& nodes);
  bool is_ending(SessionId session) const { return ending_.contains(session); }

  // The tree's digest after everything pending is applied.
  std::uint64_t digest() const { return order_.empty() ? tree_.digest() : digest_; }

  // Everything up to and including `zxid` is now applied to the tree.
  void applied(Zxid zxid);

  // A multi is all or nothing: commit() keeps everything put since mark(), rollback() removes it.
  void mark();
  void commit() { marked_ = false; }
  void rollback();

  // Calls visit(path, facts) for every node with a pending change.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, record] : records_) visit(key.path, record.facts);
  }

  std::size_t size() const { return order_.size(); }
  const ChangeCounts& counts() const { return counts_; }

 private:
  struct Record {
    NodeFacts facts;
    std::uint32_t pending = 0;  // number of entries of order_ that refer to it
  };
  // With its hash, because each change looks up its record several times.
  struct Key {
    std::string path;
    std::uint64_t hash = 0;
  };
  struct KeyHash {
    using is_transparent = void;
    using is_avalanching = void;
    std::size_t operator()(const Key& key) const { return key.hash; }
    std::size_t operator()(const Hashed& path) const { return path.hash; }
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const Key& a, const Key& b) const { return a.path == b.path; }
    bool operator()(const Hashed& a, const Key& b) const { return a.bytes == b.path; }
    bool operator()(const Key& a, const Hashed& b) const { return a.path == b.bytes; }
  };
  using Records = boost::unordered_map<Key, Record, KeyHash, KeyEqual>;
  struct Undo {
    Key key;
    std::optional<NodeFacts> before;  // nullopt: there was no record
  };
  struct Change {
    Zxid zxid{};
    const Key* key = nullptr;  // of records_; null: the end of a session
    SessionId session{};
    std::uint64_t nodes = 1;
  };

  bool will_end(const Node& node) const;

  const Tree& tree_;
  Records records_;
  boost::unordered_flat_map<SessionId, Zxid> ending_;  // value: the last transaction that ends it
  std::deque<Change> order_;                           // oldest first
  std::uint64_t digest_ = 0;
  bool marked_ = false;
  std::vector<Undo> undo_;
  std::uint64_t digest_at_mark_ = 0;
  ChangeCounts counts_;
};

}  // namespace drover::state
