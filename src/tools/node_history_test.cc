// SPDX-License-Identifier: Apache-2.0
#include "tools/node_history.h"

#include <gtest/gtest.h>

#include "tools/testing.h"

namespace drover::tools {
namespace {

using wire::OpCode;

std::vector<NodeChange> feed(NodeHistory& history, const std::string& bytes) {
  const auto txn = wire::decode_entry(bytes);
  EXPECT_TRUE(txn.has_value());
  return txn ? history.apply(*txn) : std::vector<NodeChange>{};
}

std::string record(const wire::SetDataTxn& txn) {
  std::string bytes;
  wire::Writer w(bytes);
  encode(w, txn);
  return bytes;
}

TEST(NodeHistory, ShowsDataBeforeAndAfterEachChange) {
  NodeHistory history("/a");
  const auto created = feed(history, testing::create(1, "/a", "one"));
  ASSERT_EQ(created.size(), 1u);
  EXPECT_FALSE(created[0].before.has_value());
  EXPECT_EQ(created[0].after->data, "one");

  const auto changed = feed(history, testing::set_data(2, "/a", "two", 1));
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].before->data, "one");
  EXPECT_EQ(changed[0].after->data, "two");
  EXPECT_EQ(changed[0].after->version, 1);

  const auto removed = feed(history, testing::remove(3, "/a"));
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0].before->data, "two");
  EXPECT_FALSE(removed[0].after.has_value());
}

TEST(NodeHistory, OtherNodesAreIgnored) {
  NodeHistory history("/a");
  EXPECT_TRUE(feed(history, testing::create(1, "/a/b", "")).empty());
  EXPECT_TRUE(feed(history, testing::create(2, "/ab", "")).empty());
}

TEST(NodeHistory, EveryElementOfAMultiCounts) {
  NodeHistory history("/a");
  feed(history, testing::create(1, "/a", "0"));
  const auto changes = feed(history, testing::multi(2, {{OpCode::kSetData, record({"/a", "1", 1})},
                                                        {OpCode::kSetData, record({"/b", "x", 1})},
                                                        {OpCode::kSetData, record({"/a", "2", 2})}}));
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_TRUE(changes[0].in_multi);
  EXPECT_EQ(changes[1].before->data, "1");
  EXPECT_TRUE(changes[1].before_known);
  EXPECT_EQ(changes[1].after->data, "2");
}

TEST(NodeHistory, AFailedMultiChangedNothing) {
  NodeHistory history("/a");
  feed(history, testing::create(1, "/a", "0"));
  EXPECT_TRUE(feed(history, testing::multi(2, {{OpCode::kSetData, record({"/a", "1", 1})},
                                               {OpCode::kError, std::string(4, '\xff')}}))
                  .empty());
  EXPECT_EQ(history.now()->data, "0");
}

TEST(NodeHistory, ClosedSessionDeletesItsEphemeralsListedOrNot) {
  for (const std::vector<std::string>& listed :
       {std::vector<std::string>{"/e"}, std::vector<std::string>{}}) {
    NodeHistory history("/e");
    feed(history, testing::create(1, "/e", "", /*ephemeral=*/true));
    const auto changes = feed(history, testing::close_session(2, listed));
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].type, OpCode::kCloseSession);
    EXPECT_FALSE(history.now().has_value());
  }
}

TEST(NodeHistory, ChangeInAFuzzySnapshotHasNoKnownOldValue) {
  NodeHistory history("/a");
  history.start_with({.data = "later",
                      .acl = "",
                      .version = 5,
                      .aversion = 0,
                      .owner = 0,
                      .czxid = Zxid{1},
                      .mzxid = Zxid{9}});
  const auto first = feed(history, testing::set_data(8, "/a", "4", 4));
  ASSERT_EQ(first.size(), 1u);
  EXPECT_FALSE(first[0].before_known);
  const auto second = feed(history, testing::set_data(9, "/a", "later", 5));
  EXPECT_TRUE(second[0].before_known);
  EXPECT_EQ(second[0].before->data, "4");
}

}  // namespace
}  // namespace drover::tools
