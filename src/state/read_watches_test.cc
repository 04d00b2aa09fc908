// SPDX-License-Identifier: Apache-2.0
//
// Reads that set watches, and the operations on watches (docs/client-protocol.md, "Watches").
#include <gtest/gtest.h>

#include <string>

#include "state/read_testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::testing::from_hex;
using wire::testing::path_type_body;
using wire::testing::path_watch_body;
using wire::testing::PathList;
using wire::testing::set_watches_body;

class ReadWatches : public ::testing::Test {
 protected:
  void SetUp() override { leader_.create("/a"); }
  bool has(std::string_view path, WatcherType type) const {
    return c_.watches.contains(c_.watcher, path, type);
  }

  // The events, then "ok" or the name of the error for the reply.
  std::vector<std::string> set_watches(OpCode op, const std::string& body) {
    std::vector<std::string> story;
    for (const Reply& reply : c_.ask_all(op, body)) {
      const std::string event = event_text(reply);
      EXPECT_TRUE(event.empty() || reply.header.zxid == Zxid{-1}) << "a catch-up event has no zxid";
      story.push_back(event.empty() ? std::string(name_of(reply.header.error)) : event);
    }
    return story;
  }

  Leader leader_;
  Connection c_{leader_.machine};
};

using Story = std::vector<std::string>;

TEST_F(ReadWatches, EachReadRegistersInTheRightTable) {
  c_.ask(OpCode::kGetData, path_watch_body("/a", true));
  EXPECT_TRUE(has("/a", WatcherType::kData));
  EXPECT_FALSE(has("/a", WatcherType::kChildren));
  c_.ask(OpCode::kGetChildren, path_watch_body("/a", true));
  EXPECT_TRUE(has("/a", WatcherType::kChildren));
  c_.ask(OpCode::kExists, path_watch_body("/", true));
  EXPECT_TRUE(has("/", WatcherType::kData));
  c_.ask(OpCode::kGetChildren2, path_watch_body("/", true));
  EXPECT_TRUE(has("/", WatcherType::kChildren));
}

TEST_F(ReadWatches, OnlyExistsCanWatchAMissingNode) {
  for (const OpCode op : {OpCode::kGetData, OpCode::kGetChildren, OpCode::kGetChildren2}) {
    EXPECT_EQ(c_.error(op, path_watch_body("/none", true)), ErrorCode::kNoNode);
  }
  EXPECT_TRUE(c_.watches.empty());
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body("/none", true)), ErrorCode::kNoNode);
  EXPECT_TRUE(has("/none", WatcherType::kData));
}

TEST_F(ReadWatches, NoWatchWithoutTheFlag) {
  for (const OpCode op : {OpCode::kExists, OpCode::kGetData, OpCode::kGetChildren, OpCode::kGetChildren2}) {
    c_.ask(op, path_watch_body("/a", false));
  }
  EXPECT_TRUE(c_.watches.empty());
}

TEST_F(ReadWatches, AddWatchAcceptsMissingNodesAndInvalidPaths) {
  const Reply reply = c_.ask(OpCode::kAddWatch, path_type_body("/none", 0));
  EXPECT_EQ(wire::testing::to_hex(reply.body), "00000000");
  EXPECT_TRUE(has("/none", WatcherType::kPersistent));
  EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body("/r", 1)), ErrorCode::kOk);
  EXPECT_TRUE(has("/r", WatcherType::kRecursive));
  EXPECT_FALSE(has("/r", WatcherType::kPersistent));
  for (const wire::Nullable odd :
       {wire::Nullable(std::nullopt), wire::Nullable(""), wire::Nullable("rel"), wire::Nullable("/x/")}) {
    EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body(odd, 0)), ErrorCode::kOk);
  }
  for (const std::int32_t mode : {-1, 2}) {
    EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body("/a", mode)), ErrorCode::kMarshallingError);
  }
}

TEST_F(ReadWatches, CheckAndRemoveFindOnlyRegisteredWatches) {
  c_.ask(OpCode::kGetData, path_watch_body("/a", true));
  EXPECT_EQ(c_.error(OpCode::kCheckWatches, path_type_body("/a", 2)), ErrorCode::kOk);
  EXPECT_EQ(c_.error(OpCode::kCheckWatches, path_type_body("/a", 1)), ErrorCode::kNoWatcher);
  EXPECT_TRUE(has("/a", WatcherType::kData)) << "checking removes nothing";
  EXPECT_EQ(c_.error(OpCode::kRemoveWatches, path_type_body("/a", 1)), ErrorCode::kNoWatcher);
  EXPECT_EQ(c_.error(OpCode::kRemoveWatches, path_type_body("/a", 3)), ErrorCode::kOk);
  EXPECT_EQ(c_.error(OpCode::kRemoveWatches, path_type_body("/a", 3)), ErrorCode::kNoWatcher);
  EXPECT_EQ(c_.error(OpCode::kCheckWatches, path_type_body(std::nullopt, 3)), ErrorCode::kMarshallingError);
  EXPECT_EQ(c_.error(OpCode::kRemoveWatches, path_type_body(std::nullopt, 3)), ErrorCode::kNoWatcher);
  for (const OpCode op : {OpCode::kCheckWatches, OpCode::kRemoveWatches}) {
    for (const std::int32_t type : {0, 6, -1}) {
      EXPECT_EQ(c_.error(op, path_type_body("/a", type)), ErrorCode::kMarshallingError) << type;
    }
  }
}

// ---- setWatches ----

TEST_F(ReadWatches, AfterAReconnectMissedChangesAreReportedAndTheRestIsWatched) {
  const Zxid seen = leader_.machine.last_zxid;
  leader_.create("/old-child-of-none");
  leader_.create("/changed");
  const Zxid since = leader_.machine.last_zxid;
  leader_.run(OpCode::kSetData, wire::testing::set_data_body("/changed", "new"));
  leader_.create("/changed/child");
  ASSERT_LT(seen, since);

  const std::string body = set_watches_body(
      since, {{"/a", "/gone-d", "/changed"}, {"/missing", "/a"}, {"/a", "/gone-c", "/changed"}});
  EXPECT_EQ(set_watches(OpCode::kSetWatches, body),
            (Story{"deleted /gone-d", "changed /changed", "created /a", "deleted /gone-c",
                   "children /changed", "Ok"}))
      << "data list, exist list, child list, and then the reply";
  EXPECT_TRUE(has("/a", WatcherType::kData));
  EXPECT_TRUE(has("/a", WatcherType::kChildren));
  EXPECT_TRUE(has("/missing", WatcherType::kData));
  for (const char* told : {"/gone-d", "/gone-c", "/changed"}) {
    EXPECT_FALSE(has(told, WatcherType::kAny)) << told << " got its event, so the watch is removed";
  }
}

TEST_F(ReadWatches, AfterAReconnectUnreadableNodesAreNotReported) {
  // Otherwise setWatches would tell every client whether a node exists and when it changes.
  leader_.run(OpCode::kCreate, wire::testing::create_body(
                                   "/secret", {.acl = wire::testing::acl_bytes({{31, {"digest", "a:b"}}})}));
  const std::string body = set_watches_body(Zxid{0}, {{"/secret"}, {"/secret"}, {"/secret"}});
  EXPECT_EQ(set_watches(OpCode::kSetWatches, body), Story{"Ok"});
  EXPECT_TRUE(c_.watches.empty()) << "like a watch that fired";
  c_.who.push_back({"digest", "a:b"});
  EXPECT_EQ(set_watches(OpCode::kSetWatches, body),
            (Story{"changed /secret", "created /secret", "children /secret", "Ok"}));
}

TEST_F(ReadWatches, PersistentWatchesAreRestoredWithoutMissedEvents) {
  const std::string body = set_watches_body(Zxid{0}, {{}, {}, {}, {"/a", "/none"}, {"/r"}});
  EXPECT_EQ(set_watches(OpCode::kSetWatches2, body), Story{"Ok"});
  EXPECT_TRUE(has("/a", WatcherType::kPersistent));
  EXPECT_TRUE(has("/none", WatcherType::kPersistent));
  EXPECT_TRUE(has("/r", WatcherType::kRecursive));
  std::vector<WatcherId> heard;
  c_.watches.fire(wire::EventType::kNodeChildrenChanged, "/a", heard);
  EXPECT_EQ(heard.size(), 1u) << "in both tables";
}

TEST_F(ReadWatches, SetWatchesAcceptsInvalidAndRepeatedPaths) {
  const std::string body = set_watches_body(Zxid{99}, {{"/x/", "/x/"}, {""}, {}});
  EXPECT_EQ(set_watches(OpCode::kSetWatches, body), (Story{"deleted /x/", "deleted /x/", "created ", "Ok"}));
  EXPECT_EQ(set_watches(OpCode::kSetWatches, from_hex("0000000000000001 ffffffff")),
            Story{"MarshallingError"});
}

// ---- limits ----

TEST_F(ReadWatches, EachConnectionHasAWatchLimit) {
  c_.limits.per_connection = 2;
  EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body("/1", 0)), ErrorCode::kOk);
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body("/2", true)), ErrorCode::kNoNode);
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body("/3", true)), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(c_.error(OpCode::kGetData, path_watch_body("/a", true)), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body("/3", 1)), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(set_watches(OpCode::kSetWatches2, set_watches_body(Zxid{99}, {{}, {"/3"}, {}, {}, {}})),
            Story{"Quota has exceeded"});
  EXPECT_EQ(c_.watches.watch_count(), 2u);
}

TEST_F(ReadWatches, RegisteringAWatchAgainNeedsNoRoom) {
  c_.limits.per_connection = 1;
  EXPECT_EQ(set_watches(OpCode::kSetWatches2, set_watches_body(Zxid{0}, {{}, {}, {}, {"/p"}, {}})),
            Story{"Ok"})
      << "both tables of one path are one watch";
  EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body("/p", 0)), ErrorCode::kOk);
  EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body("/p", 1)), ErrorCode::kOk);
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body("/p", true)), ErrorCode::kNoNode);
  EXPECT_EQ(c_.watches.watch_count(), 1u);
}

TEST_F(ReadWatches, AllConnectionsTogetherHaveAWatchLimit) {
  c_.limits.per_table = 1;
  c_.watches.add(WatcherId{5}, "/somebody", WatchTable::kData, kStandard);
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body("/a", true)), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body("/a", false)), ErrorCode::kOk);
}

}  // namespace
}  // namespace drover::state
