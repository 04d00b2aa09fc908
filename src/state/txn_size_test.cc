// SPDX-License-Identifier: Apache-2.0
//
// No request becomes a transaction that a follower could not read (wire/txn_limits.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/path.h"
#include "state/prepare.h"
#include "state/testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::testing::acl_bytes;
using wire::testing::create_body;
using wire::testing::multi_body;
using wire::testing::MultiPart;
using wire::testing::set_acl_body;
using wire::testing::set_data_body;

Options small_transactions(std::size_t bytes = 1000) {
  Options options;
  options.txn_bytes_max = bytes;
  return options;
}

std::string world_acl(std::size_t entries) {
  std::vector<wire::Acl> acl{{31, {"world", "anyone"}}};
  for (std::size_t i = 0; i < entries; ++i) acl.push_back({1, {"ip", "10.0.0." + std::to_string(i)}});
  return acl_bytes(acl);
}

// The largest n whose request is not refused.
template <class Request>
std::size_t largest(const Options& options, OpCode op, Request request) {
  std::size_t n = 0;
  for (std::size_t step = 1024; step > 0; step /= 2) {
    Leader leader(options);
    leader.create("/a");
    if (leader.run(op, request(n + step)) == ErrorCode::kOk) n += step;
  }
  return n;
}

class TxnSize : public ::testing::Test {
 protected:
  // The request with n is the largest that fits, exactly or nearly; the request with n + 1 has no effect.
  template <class Request>
  void expect_limit(OpCode op, std::size_t grain, Request request) {
    const Options options = small_transactions();
    const std::size_t n = largest(options, op, request);
    Leader leader(options);
    leader.create("/a");
    ASSERT_EQ(leader.run(op, request(n)), ErrorCode::kOk);
    EXPECT_LE(leader.applied.back().size(), options.txn_bytes_max);
    EXPECT_GT(leader.applied.back().size() + grain, options.txn_bytes_max);

    const auto before = picture_of(leader.machine.tree);
    // After other transactions that are not applied yet, as on a busy server.
    ASSERT_EQ(leader.prepare(OpCode::kCreate, create_body("/b")), ErrorCode::kOk);
    const std::uint64_t foreseen = leader.pending.digest();
    EXPECT_EQ(leader.prepare(op, request(n + 1)), ErrorCode::kMarshallingError);
    EXPECT_EQ(leader.pending.digest(), foreseen);
    EXPECT_EQ(leader.proposed.back().size(), wire::kTxnHeaderBytes + 4)
        << "an error takes a zxid, nothing else";
    ASSERT_EQ(leader.prepare(OpCode::kDelete, wire::testing::path_version_body("/b")), ErrorCode::kOk);
    leader.apply_all();
    auto after = picture_of(leader.machine.tree);
    for (TreePicture::value_type& node : after) node.second.stat.pzxid = before.at(node.first).stat.pzxid;
    for (TreePicture::value_type& node : after)
      node.second.stat.cversion = before.at(node.first).stat.cversion;
    EXPECT_EQ(after, before) << difference(after, before);
    EXPECT_EQ(broken_invariant(leader.machine.tree), "");
  }
};

TEST_F(TxnSize, SetDataIsLimited) {
  expect_limit(OpCode::kSetData, 1,
               [](std::size_t n) { return set_data_body("/a", std::string(n, 'x'), -1); });
}

TEST_F(TxnSize, SetAclIsLimited) {
  expect_limit(OpCode::kSetAcl, 40, [](std::size_t n) { return set_acl_body("/a", world_acl(n), -1); });
}

TEST_F(TxnSize, TheSumOfAllPartsOfAMultiIsLimited) {
  expect_limit(OpCode::kMulti, 1, [](std::size_t n) {
    return multi_body({{OpCode::kSetData, set_data_body("/a", std::string(300, 'x'), -1)},
                       {OpCode::kSetData, set_data_body("/a", std::string(n, 'x'), -1)}});
  });
}

TEST_F(TxnSize, CreateIsLimited) {
  const auto request = [](std::size_t n) { return create_body("/a/b", {.data = std::string(n, 'x')}); };
  const std::size_t n = largest(small_transactions(), OpCode::kCreate, request);
  Leader leader(small_transactions());
  leader.create("/a");
  EXPECT_EQ(leader.run(OpCode::kCreate, request(n + 1)), ErrorCode::kMarshallingError);
  EXPECT_EQ(leader.get("/a/b"), nullptr);
  EXPECT_EQ(leader.run(OpCode::kCreate, request(n)), ErrorCode::kOk);
  EXPECT_EQ(leader.applied.back().size(), 1000u);
}

TEST_F(TxnSize, AuthEntriesOfAnAclCountAsExpanded) {
  // Thirty bytes of request stand for all authenticated identities of the connection.
  Who who;
  for (int i = 0; i < 20; ++i)
    who.identities.push_back({"digest", "user" + std::to_string(i) + ":" + std::string(40, 'h')});
  const std::string body = create_body("/n", {.acl = acl_bytes({{31, {"auth", ""}}})});
  Leader leader(small_transactions());
  EXPECT_EQ(leader.run(OpCode::kCreate, body, who), ErrorCode::kMarshallingError);
  who.identities.resize(5);
  EXPECT_EQ(leader.run(OpCode::kCreate, body, who), ErrorCode::kOk);
}

TEST_F(TxnSize, TooLargeIsDistinguishedFromOtherErrors) {
  Leader leader(small_transactions());
  leader.create("/a");
  std::string out;
  const auto prepared = [&](const std::string& body) {
    const Identities nobody;
    const WriteRequest request{.session = SessionId{1}, .op = OpCode::kSetData, .body = body, .who = &nobody};
    return state::prepare(leader.machine, leader.pending, request, Zxid{100}, leader.now, out);
  };
  EXPECT_TRUE(prepared(set_data_body("/a", std::string(1000, 'x'), -1)).too_large);
  EXPECT_FALSE(prepared("no request").too_large);
  EXPECT_FALSE(prepared(set_data_body("/none", std::string(1000, 'x'), -1)).too_large)
      << "NONODE is checked first";
}

// --- the end of a session ---

constexpr SessionId kOwner{7};

const wire::CloseSessionTxn& end_in(const std::string& entry, wire::TxnEntry& decoded) {
  decoded = *wire::decode_entry(entry);
  return std::get<wire::CloseSessionTxn>(decoded.record);
}

class SessionEnd : public ::testing::Test {
 protected:
  void own(const std::string& path) {
    ASSERT_EQ(leader_.create(path, {.flags = wire::kEphemeral}, {.session = kOwner}), ErrorCode::kOk) << path;
  }
  void close() { sweeps_ += leader_.end_session(kOwner); }
  std::vector<std::string_view> listed() {
    const auto found =
        std::find_if(leader_.applied.rbegin(), leader_.applied.rend(), [](const std::string& entry) {
          return wire::decode_entry(entry)->header.type == OpCode::kCloseSession;
        });
    return end_in(*found, decoded_).paths;
  }

  Leader leader_{small_transactions()};
  int sweeps_ = 0;
  wire::TxnEntry decoded_;
};

TEST_F(SessionEnd, ListsAllNodesThatFitInOrder) {
  for (const char* path : {"/c", "/a", "/b"}) own(path);
  close();
  EXPECT_EQ(listed(), (std::vector<std::string_view>{"/a", "/b", "/c"}));
  EXPECT_EQ(sweeps_, 0);
}

TEST_F(SessionEnd, AlsoDeletesNodesThatDoNotFitInItsList) {
  for (int i = 0; i < 200; ++i) own("/e" + std::to_string(i));
  close();
  EXPECT_LT(listed().size(), 200u);
  EXPECT_GT(listed().size(), 100u) << "no room is wasted";
  EXPECT_EQ(sweeps_, 0) << "the only parent is known";
  EXPECT_EQ(leader_.machine.tree.ephemeral_count(), 0u);
  EXPECT_EQ(std::count_if(leader_.events.list.begin(), leader_.events.list.end(),
                          [](const TreeEvent& e) { return e.type == wire::EventType::kNodeDeleted; }),
            200);
  EXPECT_EQ(broken_invariant(leader_.machine.tree), "");
}

TEST_F(SessionEnd, UpdatesThePzxidOfEveryParent) {
  for (int p = 0; p < 60; ++p) {
    const std::string parent = "/a-parent-with-a-name-" + std::to_string(p);
    leader_.create(parent);
    for (int i = 0; i < 3; ++i) own(parent + "/e" + std::to_string(i));
  }
  close();
  EXPECT_EQ(leader_.machine.tree.ephemeral_count(), 0u);
  EXPECT_GT(sweeps_, 0) << "the list is too short for one child of each";
  // Replay over a snapshot with the parents from before and the children from after: the worst case.
  for (int p = 0; p < 60; ++p) {
    const auto stat = leader_.stat("/a-parent-with-a-name-" + std::to_string(p));
    EXPECT_EQ(stat.num_children, 0);
    EXPECT_GE(stat.pzxid, Zxid{raw(leader_.last_zxid) - sweeps_}) << p;
  }
}

TEST_F(SessionEnd, DeletesANodeWhosePathFitsNoTransaction) {
  // The limit was higher when the node was created. The node must still be deleted, without any error.
  leader_.machine.options.txn_bytes_max = 100'000;
  own("/" + std::string(5000, 'n'));
  own("/short");
  leader_.machine.options.txn_bytes_max = 1000;
  close();
  EXPECT_EQ(leader_.machine.tree.ephemeral_count(), 0u);
}

TEST_F(SessionEnd, DeletesEphemeralsThatAreStillPending) {
  const Who one{.session = kOwner};
  const Who other{.session = SessionId{2}};
  for (const char* path : {"/a", "/b", "/c"}) own(path);
  leader_.create("/d", {.flags = wire::kEphemeral}, other);
  const auto remove = [&](const char* path) {
    leader_.prepare(OpCode::kDelete, wire::testing::path_version_body(path), other);
  };
  const auto create = [&](const char* path, const Who& who) {
    leader_.prepare(OpCode::kCreate, create_body(path, {.flags = wire::kEphemeral}), who);
  };
  remove("/b");
  remove("/c");
  create("/c", other);
  remove("/d");
  create("/d", one);
  create("/e", one);
  close();
  EXPECT_EQ(listed(), (std::vector<std::string_view>{"/a", "/d", "/e"}));
  EXPECT_EQ(leader_.machine.tree.ephemeral_count(), 1u);
}

// Any snapshot that began before and ended after, with any part of the tree walked at any time in between.
TEST_F(SessionEnd, ReplaysExactlyOverAFuzzySnapshot) {
  for (int p = 0; p < 40; ++p) {
    const std::string parent = "/a-parent-with-a-name-" + std::to_string(p);
    leader_.create(parent);
    own(parent + "/e");
  }
  for (int i = 0; i < 60; ++i) own("/e" + std::to_string(i));
  const auto before = picture_of(leader_.machine.tree);
  const std::size_t logged = leader_.applied.size();
  close();
  ASSERT_GT(sweeps_, 0);
  const auto after = picture_of(leader_.machine.tree);
  // Every parent as before, every child as after: deleted.
  Machine machine(small_transactions());
  for (const auto& [path, node] : before) {
    if (!after.contains(path) || path.starts_with("/zookeeper")) continue;
    if (path == "/") {
      machine.tree.set_child_version(machine.tree.root(), "", node.stat.cversion, node.stat.pzxid);
      continue;
    }
    machine.tree.insert(machine.tree.find(parent_path(path)),
                        {path, node.data, machine.tree.acls().acquire(node.acl), node.stat});
  }
  TreeEvents events;
  for (std::size_t i = logged; i < leader_.applied.size(); ++i)
    apply(machine, *wire::decode_entry(leader_.applied[i]), events);
  for (const auto& [path, node] : after) {
    if (path.starts_with("/zookeeper")) continue;
    ASSERT_NE(machine.tree.get(path), nullptr) << path;
    EXPECT_EQ(picture_of(machine.tree, *machine.tree.get(path)).stat, node.stat) << path;
  }
}

}  // namespace
}  // namespace drover::state
