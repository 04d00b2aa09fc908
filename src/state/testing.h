// SPDX-License-Identifier: Apache-2.0
//
// Helpers for tests of the state machine: a machine that handles requests as a leader does (prepare, then
// apply), a comparable picture of a tree, and the checks that hold for every tree.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/random.h"
#include "state/apply.h"
#include "state/digest.h"
#include "state/machine.h"
#include "state/pending_changes.h"
#include "state/prepare.h"
#include "wire/testing.h"
#include "wire/txns.h"

namespace drover::state::testing {

using wire::OpCode;

// One node as visible to a client or a snapshot.
struct NodePicture {
  wire::StatPersisted stat;
  bool has_data = false;
  std::string data;
  std::string acl;
  std::size_t children = 0;
  friend bool operator==(const NodePicture&, const NodePicture&) = default;
};
using TreePicture = std::map<std::string, NodePicture>;

inline NodePicture picture_of(const Tree& tree, const Node& node) {
  return {persisted_stat(node), node.data().has_value(), std::string(node.data().value_or("")),
          tree.acl(node)->bytes, node.child_count};
}

inline TreePicture picture_of(const Tree& tree) {
  TreePicture picture;
  tree.for_subtree_refs(tree.root(), [&](NodeRef ref) {
    const bool fresh = picture.emplace(tree.path_of(ref), picture_of(tree, tree.at(ref))).second;
    ENSURE(fresh, "every path is visited once");
  });
  return picture;
}

// The differences between two pictures, for messages.
inline std::string difference(const TreePicture& a, const TreePicture& b) {
  std::string text;
  for (const auto& [path, node] : a) {
    const auto other = b.find(path);
    if (other == b.end()) {
      text += path + " only left; ";
    } else if (!(other->second == node)) {
      const auto show = [](const NodePicture& n) {
        return "(v" + std::to_string(n.stat.version) + " cv" + std::to_string(n.stat.cversion) + " av" +
               std::to_string(n.stat.aversion) + " c" + std::to_string(raw(n.stat.czxid)) + " m" +
               std::to_string(raw(n.stat.mzxid)) + " p" + std::to_string(raw(n.stat.pzxid)) + " '" + n.data +
               "' acl " + wire::testing::to_hex(n.acl).substr(0, 48) + " children " +
               std::to_string(n.children) + ")";
      };
      text += path + " " + show(node) + " / " + show(other->second) + "; ";
    }
  }
  for (const auto& [path, node] : b) {
    if (!a.contains(path)) text += path + " only right; ";
  }
  return text;
}

// The digest, computed from the nodes alone.
inline std::uint64_t recomputed_digest(const Tree& tree) {
  std::uint64_t sum = 0;
  tree.for_subtree_refs(tree.root(), [&](NodeRef ref) {
    const std::string path = ref == tree.root() ? "" : tree.path_of(ref);
    const Node& node = tree.at(ref);
    if (counts_in_digest(path)) sum += node_digest(content_crc(path, node.data()), persisted_stat(node));
  });
  return sum;
}

// Checks the invariants of a tree (state/tree.h) and returns a broken one, or "".
inline std::string broken_invariant(const Tree& tree) {
  std::size_t nodes = 0;
  std::size_t bytes = 0;
  std::size_t ephemerals = 0;
  std::string broken;
  tree.for_subtree_refs(tree.root(), [&](NodeRef ref) {
    const Node& node = tree.at(ref);
    std::size_t children = 0;
    for (NodeRef c = node.first_child; c != kNoNode; c = tree.at(c).next_sibling) {
      if (tree.at(c).parent != ref) broken = "a child does not know its parent";
      ++children;
    }
    if (children != node.child_count) broken = "child_count is not the number of children";
    if (tree.find(tree.path_of(ref)) != ref) broken = "a node is not found under its path";
    Tree::Below below;
    tree.for_subtree(ref, [&](const Node& each) {
      if (&each == &node) return;
      ++below.nodes;
      below.data_bytes += static_cast<std::int64_t>(each.data_bytes());
    });
    if (tree.below(ref).nodes != below.nodes || tree.below(ref).data_bytes != below.data_bytes)
      broken = "below() does not count the descendants";
    const NodeKind kind = kind_of(node.ephemeral_owner, tree.options());
    if (kind == NodeKind::kEphemeral) {
      ++ephemerals;
      const NodeSet* owned = tree.ephemerals_of(SessionId{node.ephemeral_owner});
      if (!owned || !owned->contains(ref)) broken = "an ephemeral is not listed with its session";
    }
    if (tree.containers().contains(ref) != (kind == NodeKind::kContainer))
      broken = "the list of containers is wrong";
    if (tree.ttl_nodes().contains(ref) != (kind == NodeKind::kTtl)) broken = "the list of TTL nodes is wrong";
    bytes += node.data_bytes();
    if (ref == tree.root()) return;
    ++nodes;
    bytes += tree.path_of(ref).size();
  });
  if (nodes + 2 != tree.node_count()) broken = "node_count";
  if (bytes != tree.data_bytes()) broken = "data_bytes";
  if (ephemerals != tree.ephemeral_count()) broken = "ephemeral_count";
  if (recomputed_digest(tree) != tree.digest()) broken = "the digest is not the sum over the nodes";
  return broken;
}

// The sender of a request.
struct Who {
  SessionId session{1};
  Identities identities{};
  ErrorCode session_error = ErrorCode::kOk;
  ErrorCode ephemeral_error = ErrorCode::kOk;
};

inline Options with_extended_types() {
  Options options;
  options.extended_types = true;
  return options;
}

// A leader without followers. Requests become transactions, which are applied at once or on demand.
class Leader {
 public:
  explicit Leader(const Options& options = {}) : machine(options), pending(machine.tree) {}

  // Prepares the transaction and keeps it for apply_next().
  ErrorCode prepare(OpCode op, std::string_view body, const Who& who = {}) {
    last_zxid = next(last_zxid);
    WriteRequest request{.session = who.session,
                         .cxid = 1,
                         .op = op,
                         .body = body,
                         .who = &who.identities,
                         .session_error = who.session_error,
                         .ephemeral_error = who.ephemeral_error};
    std::string entry;
    const ErrorCode error = state::prepare(machine, pending, request, last_zxid, now, entry).error;
    proposed.push_back(std::move(entry));
    return error;
  }

  ApplyResult apply_next() {
    applied.push_back(std::move(proposed.front()));
    proposed.erase(proposed.begin());
    const auto txn = wire::decode_entry(applied.back());
    ENSURE(txn.has_value(), "a prepared transaction can be decoded");
    events.clear();
    ApplyResult result = state::apply(machine, *txn, events);
    pending.applied(txn->header.zxid);
    EXPECT_TRUE(!txn->digest || txn->digest->tree_digest == machine.tree.digest())
        << "the digest that prepare predicted";
    return result;
  }
  void apply_all() {
    while (!proposed.empty()) apply_next();
  }

  // Prepares and applies. Returns the error that the client would see.
  ErrorCode run(OpCode op, std::string_view body, const Who& who = {}) {
    const ErrorCode error = prepare(op, body, who);
    apply_all();
    return error;
  }
  ErrorCode create(std::string_view path, const wire::testing::CreateArgs& args = {}, const Who& who = {}) {
    return run(OpCode::kCreate, wire::testing::create_body(path, args), who);
  }

  // Like the replica: sweeps follow immediately. Returns their number.
  int end_session(SessionId session) {
    const Identities nobody;
    std::string entry;
    last_zxid = next(last_zxid);
    const Prepared prepared =
        state::prepare(machine, pending, {.session = session, .op = OpCode::kCloseSession, .who = &nobody},
                       last_zxid, now, entry);
    EXPECT_LE(entry.size(), machine.options.txn_bytes_max);
    proposed.push_back(std::move(entry));
    int sweeps = 0;
    std::span<const std::string> left(prepared.unlisted);
    while (const std::size_t n = count_for_sweep(left, machine.options)) {
      last_zxid = next(last_zxid);
      std::string sweep;
      prepare_sweep(machine, pending, left.first(n), last_zxid, now, sweep);
      EXPECT_LE(sweep.size(), machine.options.txn_bytes_max);
      proposed.push_back(std::move(sweep));
      left = left.subspan(n);
      ++sweeps;
    }
    apply_all();  // also checks the digests
    return sweeps;
  }

  const Node* get(std::string_view path) const { return machine.tree.get(path); }
  wire::Stat stat(std::string_view path) const { return machine.tree.stat(*machine.tree.get(path)); }

  Machine machine;
  PendingChanges pending;
  Zxid last_zxid{};
  WallTime now{1'700'000'000'000};
  std::vector<std::string> proposed;  // entries not yet applied
  std::vector<std::string> applied;   // the log
  TreeEvents events;                  // of the last transaction
};

// A random write request. Few paths and sessions, so that requests conflict often.
struct RandomWrite {
  OpCode op{};
  std::string body;
  Who who;
};

inline std::string random_path(Random& random) {
  std::string path;
  for (std::uint64_t depth = 1 + random.below(3); depth > 0; --depth) {
    path += '/';
    path += static_cast<char>('a' + random.below(3));
  }
  return path;
}

inline std::string random_acl(Random& random) {
  const std::uint64_t kind = random.below(6);
  if (kind < 3) return wire::open_acl_bytes();
  return wire::testing::acl_bytes({{31, {"world", "anyone"}}, {1, {"ip", "1.1.1." + std::to_string(kind)}}});
}

inline RandomWrite random_write(Random& random) {
  namespace t = wire::testing;
  const std::string path = random_path(random);
  const std::string data(random.below(30), static_cast<char>('A' + random.below(26)));
  const Who who{.session = SessionId{static_cast<std::int64_t>(1 + random.below(3))}};
  const auto version = static_cast<std::int32_t>(random.below(3)) - 1;
  const auto flags = static_cast<std::int32_t>(random.below(5));
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2: return {OpCode::kDelete, t::path_version_body(path), who};
    case 3: return {OpCode::kSetData, t::set_data_body(path, data, version), who};
    case 4: return {OpCode::kSetAcl, t::set_acl_body(path, random_acl(random), version), who};
    case 5:
      if (random.below(3) == 0) return {OpCode::kCloseSession, "", who};
      return {OpCode::kCreateSession, t::written([](wire::Writer& w) { w.i32(4000); }), who};
    case 6:
      return {OpCode::kMulti,
              t::multi_body({{OpCode::kCreate, t::create_body(path, {.data = data})},
                             {OpCode::kSetData, t::set_data_body(random_path(random), data, version)},
                             {OpCode::kDelete, t::path_version_body(random_path(random))}}),
              who};
    case 7:
      return {OpCode::kCreateContainer, t::create_body(path, {.data = data, .flags = wire::kContainer}), who};
    case 8: return {OpCode::kCreateTtl, t::create_ttl_body(path, 7), who};
    default:
      return {OpCode::kCreate,
              t::create_body(path, {.data = data, .acl = random_acl(random), .flags = flags}), who};
  }
}

inline Identities digest_user(std::string_view user_password) {
  return {{"ip", "127.0.0.1"}, {"digest", digest_identity(user_password)}};
}

}  // namespace drover::state::testing
