// SPDX-License-Identifier: Apache-2.0
//
// The leader's view of changes that are proposed but not yet applied.
//
// prepare() must judge a request against the tree as it *will* be once everything in flight has been
// applied; otherwise two pipelined creates of one path would both succeed. Owned by the replica; on an
// ensemble it exists only while leading.
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
#include "state/acl_table.h"
#include "state/tree.h"
#include "wire/records.h"

namespace drover::state {

// What prepare needs to know of a node.
struct NodeFacts {
  bool exists = true;
  std::int32_t child_count = 0;
  std::uint32_t content_crc = 0;
  std::uint64_t digest = 0;  // its part of the tree's digest
  std::int64_t data_bytes = 0;
  AclListPtr acl;  // null: open
  wire::StatPersisted stat;
};

// For the monitor: how many changes of nodes were ever pending, and are no more.
struct ChangeCounts {
  std::uint64_t queued = 0;
  std::uint64_t removed = 0;
};

class PendingChanges {
 public:
  explicit PendingChanges(const Tree& tree, const ChangeCounts& before = {})
      : tree_(tree), records_(0, KeyedHash{tree.options().hash_key}), counts_(before) {}

  // The node as it will be; nullopt when there will be none.
  std::optional<NodeFacts> find(std::string_view path) const;

  // Records what the transaction `zxid` makes of a node. `before` is what find() said (no value: nothing).
  void put(std::string_view path, Zxid zxid, const NodeFacts& after, std::uint64_t digest_before);

  // Records that the transaction `zxid` ends a session: of its nodes in the tree, those that have no record
  // of their own will be gone. One record for all of them, because a session may own very many. The caller
  // counts them and their part of the digest.
  struct OwnedNodes {
    std::uint64_t count = 0;
    std::uint64_t digest = 0;
  };
  void end_session(SessionId session, Zxid zxid, const OwnedNodes& nodes);
  bool is_ending(SessionId session) const { return ending_.contains(session); }

  // The tree's digest once everything pending is applied.
  std::uint64_t digest() const { return order_.empty() ? tree_.digest() : digest_; }

  // Everything up to and including `zxid` is now in the tree.
  void applied(Zxid zxid);

  // A multi is all or nothing: what is put after mark() stays with commit(), and goes with rollback().
  void mark();
  void commit() { marked_ = false; }
  void rollback();

  // Calls visit(path, facts) for every node with a pending change.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [path, record] : records_) visit(path, record.facts);
  }

  std::size_t size() const { return order_.size(); }
  const ChangeCounts& counts() const { return counts_; }

 private:
  struct Record {
    NodeFacts facts;
    std::uint32_t pending = 0;  // how many entries of order_ name it
  };
  using Records = boost::unordered_map<std::string, Record, KeyedHash, std::equal_to<>>;
  struct Undo {
    std::string path;
    std::optional<NodeFacts> before;  // nullopt: there was no record
  };
  struct Change {
    Zxid zxid{};
    const std::string* path = nullptr;  // a key of records_; null: the end of a session
    SessionId session{};
    std::uint64_t nodes = 1;
  };

  bool will_end(const Node& node) const;

  const Tree& tree_;
  Records records_;
  boost::unordered_flat_map<SessionId, Zxid> ending_;  // and the last transaction that ends it
  std::deque<Change> order_;                           // oldest first
  std::uint64_t digest_ = 0;
  bool marked_ = false;
  std::vector<Undo> undo_;
  std::uint64_t digest_at_mark_ = 0;
  ChangeCounts counts_;
};

}  // namespace drover::state
