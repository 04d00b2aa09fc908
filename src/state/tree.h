// SPDX-License-Identifier: Apache-2.0
//
// The znodes: paths, parents and children, and indexes of ephemeral, container and TTL nodes.
//
// The tree knows nothing of requests, permissions or expected versions. It does what state/apply tells it and
// keeps its indexes correct. Reads are const and may run on many threads while there is no write.
//
// Always true: every node except the root has a parent in the tree; child_count is the length of the child
// list; below() equals the count of a walk; the digest is the sum of the node digests; ephemerals, containers
// and TTL nodes are listed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "base/hash.h"
#include "base/ids.h"
#include "state/acl_table.h"
#include "state/blob_arena.h"
#include "state/ephemeral_owner.h"
#include "state/node.h"
#include "state/node_store.h"
#include "state/options.h"
#include "state/path_index.h"
#include "state/walk_places.h"
#include "wire/jute.h"
#include "wire/records.h"

namespace drover::state {

using NodeSet = boost::unordered_flat_set<NodeRef>;

class Tree {
 public:
  // An empty tree holds /, /zookeeper, /zookeeper/quota and /zookeeper/config.
  explicit Tree(const Options& options);
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // --- reading ---
  NodeRef find(std::string_view path) const { return find(hashed(path)); }  // "" and "/" are the root
  NodeRef find(const Hashed& path) const;
  // For a caller that looks up a path more than once.
  Hashed hashed(std::string_view path) const { return {path, hash_bytes(path, options_.hash_key)}; }
  void prefetch(std::string_view path) const { index_.prefetch(hashed(path).hash); }
  const Node& at(NodeRef ref) const { return nodes_.at(ref); }
  const Node* get(std::string_view path) const { return get(hashed(path)); }
  const Node* get(const Hashed& path) const;
  NodeRef root() const { return root_; }
  std::string path_of(NodeRef ref) const;
  wire::Stat stat(const Node& node) const;
  const AclListPtr& acl(const Node& node) const { return acls_.list(node.acl); }

  // Same count as ZooKeeper, whose table holds the root twice.
  std::size_t node_count() const { return index_.size() + 2; }
  // Totals of the nodes below a node, without the node itself. Updated with every change, because a client
  // may ask for it, and set a quota, as often as it likes.
  struct Below {
    std::size_t nodes = 0;
    std::int64_t data_bytes = 0;
  };
  Below below(NodeRef ref) const;
  std::size_t data_bytes() const { return data_bytes_; }
  std::uint64_t digest() const { return digest_; }

  // Visits the node and everything below it, parents first.
  template <class Visit>
  void for_subtree_refs(NodeRef top, Visit visit) const {
    const NodeRef end = successor(top, /*with_children=*/false);
    for (NodeRef ref = top; ref != end; ref = successor(ref, true)) visit(ref);
  }
  template <class Visit>
  void for_subtree(NodeRef top, Visit visit) const {
    for_subtree_refs(top, [&](NodeRef ref) { visit(nodes_.at(ref)); });
  }

  const NodeSet* ephemerals_of(SessionId session) const;
  std::size_t ephemeral_count() const { return ephemeral_count_; }
  const boost::unordered_flat_map<SessionId, NodeSet>& ephemerals() const { return ephemerals_; }
  const NodeSet& containers() const { return containers_; }
  const NodeSet& ttl_nodes() const { return ttl_nodes_; }
  const AclTable& acls() const { return acls_; }
  const Options& options() const { return options_; }

  // --- writing ---
  struct NewNode {
    std::string_view path;
    wire::Nullable data;
    AclId acl = kOpenAcl;
    wire::StatPersisted stat;
  };
  // Adds a node below `parent`. The path must not exist yet. Does not change the parent's attributes.
  NodeRef insert(NodeRef parent, const NewNode& node) { return insert(parent, node, hashed(node.path).hash); }
  NodeRef insert(NodeRef parent, const NewNode& node, std::uint64_t hash);
  // Removes a node without children, also from the lists of ephemerals, containers and TTL nodes.
  void remove(NodeRef ref, std::string_view path);
  void set_data(NodeRef ref, std::string_view path, const wire::Nullable& data,
                const wire::StatPersisted& stat);
  // Changes only the data, outside of any transaction. For quota statistics.
  void rewrite_data(NodeRef ref, std::string_view path, const wire::Nullable& data);
  void set_acl(NodeRef ref, std::string_view path, AclId acl, std::int32_t aversion);
  // Updates the parent for a create or delete below it.
  void set_child_version(NodeRef ref, std::string_view path, std::int32_t cversion, Zxid pzxid);
  AclTable& acls() { return acls_; }

  // For loading a snapshot. clear() empties the tree and cuts off every walk; restore_root() sets the root's
  // record.
  void clear();
  void restore_root(const NewNode& node);
  // Creates /zookeeper and its two children if they are missing: snapshots of old servers lack some.
  void ensure_special_nodes();

  // --- walking while others write ---
  // A position in depth-first order, parents first, that stays valid across writes. A fuzzy snapshot reads
  // some nodes, lets the writer in, and continues. New nodes go to the head of their sibling list, so a walk
  // never visits a node twice.
  //
  // Any number of walks may be active, each on its own thread. All calls, including the destructor, count as
  // reads: they must not run during a write. The tree outlives its walks.
  class Walk {
   public:
    explicit Walk(Tree& tree) : tree_(tree), place_(tree.walks_.claim(tree.root_)) {}
    ~Walk() { tree_.walks_.release(place_); }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;

    NodeRef position() const { return place_.next; }  // kNoNode at the end
    void advance() { place_.next = tree_.successor(place_.next, /*with_children=*/true); }
    // The tree was cleared: the walk is at its end, but the nodes it visited are not a whole tree.
    bool cut_off() const { return place_.cut_off; }

   private:
    Tree& tree_;
    WalkPlaces::Place& place_;
  };

  // The same over the children of one node, without their descendants. A node may have a million children,
  // too many for holding a lock all the time. Children added meanwhile are not visited, and those removed
  // meanwhile may be; state/child_listing.h gives the children of one moment.
  class ChildWalk {
   public:
    ChildWalk(Tree& tree, NodeRef parent)
        : tree_(tree), parent_(parent), place_(tree.walks_.claim(tree.at(parent).first_child)) {}
    ~ChildWalk() { tree_.walks_.release(place_); }
    ChildWalk(const ChildWalk&) = delete;
    ChildWalk& operator=(const ChildWalk&) = delete;

    // kNoNode at the end. If the walk is at the last child and that child is removed, the walk moves to a
    // node outside the parent. It never returns to a node whose parent has the same NodeRef, because new
    // nodes go to the head of their list.
    NodeRef position() const {
      const NodeRef next = place_.next;
      return next != kNoNode && tree_.at(next).parent == parent_ ? next : kNoNode;
    }
    void advance() { place_.next = tree_.at(place_.next).next_sibling; }

   private:
    Tree& tree_;
    NodeRef parent_;
    WalkPlaces::Place& place_;
  };

 private:
  friend class ChildListing;

  bool has_path(NodeRef ref, std::string_view path) const;
  void link(NodeRef parent, NodeRef child);
  void unlink(NodeRef child);
  void store_name_and_data(Node& node, std::string_view name, const wire::Nullable& data);
  void replace_data(Node& node, const wire::Nullable& data);
  static void copy_data(Node& node, const wire::Nullable& data);
  void track(NodeRef ref, const Node& node);
  void untrack(NodeRef ref, const Node& node);
  // Runs `change` on the node and updates the tree's digest.
  template <class Change>
  void change_counted(NodeRef ref, std::string_view path, Change change);
  NodeRef successor(NodeRef ref, bool with_children) const;
  void step_off(NodeRef ref);
  void tell_listings_of(NodeRef added);
  void count_below(NodeRef parent, const Below& change);

  Options options_;
  NodeStore nodes_;
  BlobArena blobs_;
  PathIndex index_;
  AclTable acls_;
  NodeRef root_ = kNoNode;
  mutable WalkPlaces walks_;  // a walk is a reader
  std::uint64_t digest_ = 0;
  std::size_t data_bytes_ = 0;
  std::size_t ephemeral_count_ = 0;
  Below below_root_;
  boost::unordered_flat_map<NodeRef, Below> below_;  // for every other node that has children
  boost::unordered_flat_map<SessionId, NodeSet> ephemerals_;
  NodeSet containers_;
  NodeSet ttl_nodes_;
};

}  // namespace drover::state
