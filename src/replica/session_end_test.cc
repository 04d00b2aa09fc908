// SPDX-License-Identifier: Apache-2.0
//
// A session with more ephemeral nodes than one transaction can list (ZOOKEEPER-4306) ends like any other.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replica/member_testing.h"
#include "replica/pair_testing.h"
#include "replica/testing.h"
#include "wire/txns.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::create_body;
using wire::testing::path_watch_body;
using wire::testing::set_data_body;

constexpr std::size_t kTxnBytes = 1000;
constexpr int kMany = 100;

HarnessConfig small_transactions() {
  HarnessConfig config;
  config.state.txn_bytes_max = kTxnBytes;
  return config;
}

// Each has its own parent, so that no list of a thousand bytes can name them all.
std::string parent(int i) { return "/a-parent-" + std::to_string(i); }
std::string ephemeral(int i) { return parent(i) + "/e"; }

void make_ephemerals(Client& c, int count) {
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(c.create(parent(i)), ErrorCode::kOk);
    ASSERT_EQ(c.create(ephemeral(i), {.flags = wire::kEphemeral}), ErrorCode::kOk);
  }
}

std::vector<wire::TxnEntry> transactions_in(const std::vector<TxnBatchPtr>& log, std::size_t from) {
  std::vector<wire::TxnEntry> txns;
  for (std::size_t b = from; b < log.size(); ++b) {
    for (std::size_t i = 0; i < log[b]->size(); ++i) {
      EXPECT_LE(log[b]->entry(i).size(), kTxnBytes);
      txns.push_back(*wire::decode_entry(log[b]->entry(i)));
    }
  }
  return txns;
}

// The end itself, which is one transaction, and sweeps after it.
void expect_end_of(SessionId session, const std::vector<wire::TxnEntry>& txns) {
  ASSERT_GT(txns.size(), 1u);
  EXPECT_EQ(txns.front().header.type, OpCode::kCloseSession);
  EXPECT_EQ(txns.front().header.session, session);
  for (std::size_t i = 1; i < txns.size(); ++i) {
    EXPECT_EQ(txns[i].header.type, OpCode::kMulti);
    EXPECT_EQ(raw(txns[i].header.session), 0) << "no follower answers anybody for it";
  }
}

TEST(SessionEnd, IsReadableByFollowersAndAnsweredOnce) {
  Harness h(small_transactions());
  Client c = connected(h);
  make_ephemerals(c, kMany);
  const std::size_t before = h.log.size();
  EXPECT_EQ(c.error(OpCode::kCloseSession), ErrorCode::kOk);
  expect_end_of(c.session(), transactions_in(h.log, before));
  EXPECT_EQ(h.machine.tree.ephemeral_count(), 0u);
  EXPECT_EQ(h.replica->session_count(), 0u);
  EXPECT_EQ(h.replica->stats().sessions_closed, 1u);
}

TEST(SessionEnd, ByExpiryFiresTheWatchesOfEveryNode) {
  Harness h(small_transactions());
  Client c = connected(h);
  make_ephemerals(c, kMany);
  Client watcher = connected(h, {.timeout_ms = 60'000});
  for (int i = 0; i < kMany; ++i) watcher.ask(OpCode::kExists, path_watch_body(ephemeral(i), true));
  c.vanish();
  const std::size_t before = h.log.size();
  h.advance(1);
  h.advance(20'000);
  expect_end_of(c.session(), transactions_in(h.log, before));
  EXPECT_EQ(h.machine.tree.ephemeral_count(), 0u);
  EXPECT_EQ(watcher.take().size(), static_cast<std::size_t>(kMany)) << "one event for each";
}

TEST(SessionEnd, DeletesNodesWhoseCreationIsStillPending) {
  HarnessConfig config = small_transactions();
  config.durable_at_once = false;
  Harness h(config);
  Client c = connected_durably(h);
  for (int i = 0; i < kMany; ++i)
    c.queue(OpCode::kCreate, create_body("/e" + std::to_string(i), {.flags = wire::kEphemeral}));
  c.queue(OpCode::kCloseSession);
  c.flush();
  h.durable();
  EXPECT_EQ(h.machine.tree.ephemeral_count(), 0u);
  EXPECT_EQ(h.machine.tree.node_count(), Harness().machine.tree.node_count());
  EXPECT_FALSE(h.machine.sessions.contains(c.session()));
}

TEST(SessionEnd, AllowsNoNewNodesBetweenItsTransactions) {
  HarnessConfig config = small_transactions();
  config.fronts = 2;
  Harness h(config);
  Client c = connected(h);
  make_ephemerals(c, kMany);
  Client other = connected(h, {}, 1);
  c.queue(OpCode::kCloseSession);
  c.flush();
  other.queue(OpCode::kCreate, create_body(ephemeral(7), {.flags = wire::kEphemeral}));
  other.flush();
  h.settle();
  ASSERT_EQ(h.machine.tree.ephemeral_count(), 1u) << "a later node of the same name is somebody else's";
  EXPECT_EQ(h.machine.tree.get(ephemeral(7))->ephemeral_owner, raw(other.session()));
}

TEST(SessionEnd, IsCompletedAfterACrash) {
  HarnessConfig config = small_transactions();
  config.durable_at_once = false;
  Harness h(config);
  Client c = connected_durably(h);
  for (int i = 0; i < kMany; ++i) {
    c.queue(OpCode::kCreate, create_body(parent(i)));
    c.queue(OpCode::kCreate, create_body(ephemeral(i), {.flags = 1}));
  }
  c.flush();
  h.durable();
  ASSERT_EQ(h.machine.tree.ephemeral_count(), static_cast<std::size_t>(kMany));
  c.send(OpCode::kCloseSession);
  ASSERT_GT(h.replica->last_proposed(), next(next(h.machine.last_zxid)));
  h.durable(1);  // the first of its transactions, and then the power fails
  h.restart();
  EXPECT_EQ(h.machine.tree.ephemeral_count(), 0u) << "no session loses some of its nodes and lives on";
  EXPECT_FALSE(h.machine.sessions.contains(c.session()));
}

TEST(SessionEnd, WorksForMoreNodesThanATransactionCanList) {
  Harness h;
  Client c = connected(h);
  constexpr int kNodes = 50'000;
  const std::string name = "/an-ephemeral-node-with-an-ordinary-name-";
  for (int i = 0; i < kNodes; ++i) {
    c.queue(OpCode::kCreate, create_body(name + std::to_string(i), {.flags = wire::kEphemeral}));
    if (i % 500 != 499) continue;
    c.flush();
    h.settle();
    c.take();
  }
  ASSERT_EQ(h.machine.tree.ephemeral_count(), static_cast<std::size_t>(kNodes));
  const std::size_t before = h.log.size();
  EXPECT_EQ(c.error(OpCode::kCloseSession), ErrorCode::kOk);
  EXPECT_EQ(h.machine.tree.ephemeral_count(), 0u);
  for (std::size_t b = before; b < h.log.size(); ++b) {
    for (std::size_t i = 0; i < h.log[b]->size(); ++i) EXPECT_LE(h.log[b]->entry(i).size(), 2u * 0xfffff);
  }
}

TEST(TxnSize, ATooLargeTransactionIsReportedOnEveryServer) {
  HarnessConfig config = small_transactions();
  Harness h(config);
  Client c = connected(h);
  c.create("/a");
  EXPECT_EQ(c.error(OpCode::kSetData, set_data_body("/a", std::string(kTxnBytes, 'x'), -1)),
            ErrorCode::kMarshallingError);
  EXPECT_FALSE(c.closed());
  EXPECT_EQ(h.replica->stats().txns_too_large, 1u);
  EXPECT_EQ(c.error(OpCode::kSetData, set_data_body("/a", std::string(kTxnBytes / 2, 'x'), -1)),
            ErrorCode::kOk);
}

TEST(TouchedSessions, ThatDoNotFitAPingFollowInOrderWithTheNext) {
  TouchedSessions touched;
  for (int i = 1; i <= 5; ++i) touched.add(SessionId{i}, 1000 * i);
  touched.erase(SessionId{2});
  touched.add(SessionId{1}, 7000);
  const auto taken = [&](std::size_t bytes) {
    std::string out;
    touched.take(out, bytes);
    EXPECT_LE(out.size(), bytes);
    const auto sessions = wire::decode_touched(wire::Nullable(out));
    std::vector<std::int64_t> ids;
    for (const wire::TouchedSession& each : *sessions) ids.push_back(raw(each.session));
    return ids;
  };
  using Ids = std::vector<std::int64_t>;
  EXPECT_EQ(taken(35), (Ids{1, 3})) << "what is not there takes no room";
  touched.add(SessionId{1}, 1000);
  EXPECT_EQ(taken(24), (Ids{4, 5}));
  EXPECT_EQ(taken(1000), (Ids{1}));
  EXPECT_EQ(taken(1000), Ids{});
}

// --- in an ensemble ---

class LargePackets : public ::testing::Test {
 protected:
  LargePackets() : c(3) {
    c.start({1, 2, 3});
    c.settle_down();
  }
  Cluster c;
};

TEST_F(LargePackets, APacketTooLargeForAGreetingClosesAStrangersLink) {
  ASSERT_EQ(c.leader(), 3);
  const zab::LinkId link{4711};
  Effects effects;
  c.member(3).on_link({link, zab::LinkEvent::Kind::kAccepted}, Instant{2'000'000}, effects);
  std::string bytes;
  wire::append_packet(bytes, wire::PacketType::kFollowerInfo, Zxid{}, std::string(2000, 'x'));
  bytes.resize(100);
  c.member(3).on_link_bytes(link, bytes, Instant{2'000'000}, {}, effects);
  EXPECT_EQ(effects.zab.close, std::vector<zab::LinkId>{link}) << "before its bytes are there";
}

}  // namespace
}  // namespace drover::replica
