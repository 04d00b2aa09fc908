// SPDX-License-Identifier: Apache-2.0
//
// Events that are missing, late, duplicated or made up (I9), and the gaps that a lost connection allows.
#include <gtest/gtest.h>

#include "sim/oracle_testing.h"

namespace drover::sim {
namespace {

using testing::Story;
using testing::Told;
using testing::zxid_of;
using wire::EventType;
using wire::OpCode;
namespace t = wire::testing;

struct WatchesTest : ::testing::Test {
  Story s;
  Story::Client a = s.join();
  Story::Client b = s.join();

  void watch_data(std::string_view path) { s.do_read(a, OpCode::kGetData, t::path_watch_body(path, true)); }
  void watch_exists(std::string_view path) { s.do_read(a, OpCode::kExists, t::path_watch_body(path, true)); }
  void watch_children(std::string_view path) {
    s.do_read(a, OpCode::kGetChildren, t::path_watch_body(path, true));
  }
  void watch_persistent(std::string_view path) {
    s.do_read(a, OpCode::kAddWatch, t::path_type_body(path, 0));
  }
  void watch_recursive(std::string_view path) { s.do_read(a, OpCode::kAddWatch, t::path_type_body(path, 1)); }
};

TEST_F(WatchesTest, CorrectEventsAreAccepted) {
  s.create(b, "/a");
  watch_data("/a");
  watch_children("/a");
  watch_exists("/awaited");
  watch_recursive("/");
  watch_persistent("/a");
  s.set(b, "/a");
  s.tell_events(a);
  s.create(b, "/a/x");
  s.create(b, "/awaited");
  s.tell_events(a);
  watch_data("/a");
  watch_children("/a");
  s.remove(b, "/a/x");
  s.do_write(b, OpCode::kMulti,
             t::multi_body({{OpCode::kSetData, t::set_data_body("/a", "1")},
                            {OpCode::kSetData, t::set_data_body("/a", "2")},
                            {OpCode::kDelete, t::path_version_body("/a")},
                            {OpCode::kCreate, t::create_body("/a")}}));
  s.tell_events(a);
  s.sync(a);
  EXPECT_ACCEPTED(s);
}

TEST_F(WatchesTest, AMissingEventIsFoundByTheNextReply) {
  s.create(b, "/a");
  watch_data("/a");
  s.set(b, "/a");
  s.events(a).clear();
  s.sync(a);
  EXPECT_REJECTED(s, "I9: client 0 saw 0x500000004 before it was told that /a was changed at 0x500000004");
}

TEST_F(WatchesTest, EventAfterAReplyThatShowsTheChangeIsFound) {
  s.create(b, "/a");
  watch_data("/a");
  s.set(b, "/a");
  const auto reply = s.read(a, OpCode::kGetData, t::path_watch_body("/a"));
  s.tell(a, reply);
  s.tell_events(a);
  EXPECT_REJECTED(s, "before it was told that /a was changed");
  EXPECT_REJECTED(s, "only after a reply at 0x500000004");
}

TEST_F(WatchesTest, RepeatedEventIsFound) {
  s.create(b, "/a");
  watch_data("/a");
  s.set(b, "/a");
  s.events(a).push_back(s.events(a).front());
  s.tell_events(a);
  EXPECT_REJECTED(s, "I9: client 0 was told that /a was changed at 0x500000004, which it does not watch");
}

TEST_F(WatchesTest, AWatchThatFiresOnceDoesNotFireAgain) {
  s.create(b, "/a");
  watch_data("/a");
  s.set(b, "/a");
  s.tell_events(a);
  s.set(b, "/a", "again");
  s.tell_event(a, {EventType::kNodeDataChanged, "/a", s.last});
  EXPECT_REJECTED(s, "which it does not watch");
}

TEST_F(WatchesTest, AnEventOfAnotherTypeIsFound) {
  s.create(b, "/a");
  watch_data("/a");
  s.set(b, "/a");
  s.tell_event(a, {EventType::kNodeDeleted, "/a", s.last});
  EXPECT_REJECTED(s, "I9: client 0 was told that /a was deleted at 0x500000004, but next was changed");
}

TEST_F(WatchesTest, AnEventThatNeverHappenedIsFound) {
  s.create(b, "/a");
  watch_data("/a");
  s.create(b, "/other");
  s.tell_event(a, {EventType::kNodeDataChanged, "/a", s.last});
  EXPECT_REJECTED(s, "I9: client 0 was told that /a was changed at 0x500000004, and it was not");
}

TEST_F(WatchesTest, EventWithoutAWatchIsFound) {
  s.create(b, "/a");
  s.tell_event(a, {EventType::kNodeCreated, "/a", s.last});
  EXPECT_REJECTED(s, "which it does not watch");
}

TEST_F(WatchesTest, EventsOutOfOrderAreFound) {
  s.create(b, "/a");
  s.create(b, "/b");
  watch_data("/a");
  watch_data("/b");
  s.set(b, "/a");
  s.set(b, "/b");
  std::swap(s.events(a)[0], s.events(a)[1]);
  s.tell_events(a);
  EXPECT_REJECTED(s, "I9: client 0 was told of 0x500000006 before 0x500000005 of /a");
  EXPECT_REJECTED(s, "I9: client 0 heard of 0x500000005 after 0x500000006");
}

TEST_F(WatchesTest, DeletionIsReportedOnceToDataAndChildWatch) {
  s.create(b, "/a");
  watch_data("/a");
  watch_children("/a");
  s.remove(b, "/a");
  ASSERT_EQ(s.events(a).size(), 1u);
  s.tell_events(a);
  s.sync(a);
  EXPECT_ACCEPTED(s);
}

TEST_F(WatchesTest, APersistentWatchMissesNothing) {
  s.create(b, "/a");
  watch_persistent("/a");
  s.set(b, "/a");
  s.set(b, "/a", "again");
  s.events(a).pop_front();
  s.tell_events(a);
  EXPECT_REJECTED(
      s, "I9: client 0 was told that /a was changed at 0x500000005, but next was changed at 0x500000004");
}

TEST_F(WatchesTest, RecursiveWatchCoversTheSubtree) {
  s.create(b, "/a");
  watch_recursive("/a");
  s.create(b, "/a/x");
  s.create(b, "/a/x/y");
  EXPECT_EQ(s.events(a).size(), 2u) << "and not of children as such";
  s.events(a).pop_back();
  s.tell_events(a);
  s.sync(a);
  EXPECT_REJECTED(s, "before it was told that /a was created at 0x500000005");
}

TEST_F(WatchesTest, FailedMultiFiresNoEvents) {
  s.create(b, "/a");
  watch_data("/a");
  s.do_write(b, OpCode::kMulti,
             t::multi_body({{OpCode::kSetData, t::set_data_body("/a", "1")},
                            {OpCode::kCheck, t::path_version_body("/zz", 1)}}));
  EXPECT_TRUE(s.events(a).empty());
  s.sync(a);
  EXPECT_ACCEPTED(s);
  s.tell_event(a, {EventType::kNodeDataChanged, "/a", s.last});
  EXPECT_REJECTED(s, "and it was not");
}

TEST_F(WatchesTest, ARemovedWatchIsSilent) {
  s.create(b, "/a");
  watch_data("/a");
  s.do_read(a, OpCode::kRemoveWatches, t::path_type_body("/a", 2));
  s.set(b, "/a");
  s.tell_events(a);
  s.sync(a);
  EXPECT_ACCEPTED(s);
}

TEST_F(WatchesTest, AServerThatForgetsAWatchIsFound) {
  s.create(b, "/a");
  watch_data("/a");
  const std::string body = t::path_type_body("/a", 3);
  const std::int32_t xid = s.ask(a, OpCode::kRemoveWatches, body);
  s.tell(a, {{xid, s.last, ErrorCode::kNoWatcher}, ""});
  EXPECT_REJECTED(s, "I9: client 0 was told at 0x500000003 that it does not watch /a");
}

// --- after a lost connection ---

TEST_F(WatchesTest, MissedChangesAreReportedAfterAReconnect) {
  s.create(b, "/data");
  s.create(b, "/gone");
  s.create(b, "/parent");
  watch_data("/data");
  watch_data("/gone");
  watch_children("/gone");
  watch_children("/parent");
  watch_exists("/awaited");
  const Zxid seen = s.last;
  s.set(b, "/data");
  s.remove(b, "/gone");
  s.create(b, "/parent/child");
  s.create(b, "/awaited");
  s.reconnect(a, seen, {{"/data", "/gone"}, {"/awaited"}, {"/gone", "/parent"}, {}, {}});
  EXPECT_EQ(s.events(a).size(), 5u) << "the end of a node is told for its data and for its children";
  s.tell_events(a);
  s.sync(a);
  EXPECT_ACCEPTED(s);
}

TEST_F(WatchesTest, MissedChangeThatIsNotReportedIsFound) {
  s.create(b, "/a");
  watch_data("/a");
  s.set(b, "/a");
  // As if the server compared with a zxid that the client had not seen yet.
  s.reconnect(a, s.last, {{"/a"}, {}, {}, {}, {}});
  EXPECT_TRUE(s.events(a).empty());
  s.sync(a);
  EXPECT_REJECTED(s, "before it was told that /a was changed at 0x500000004");
}

TEST_F(WatchesTest, InventedMissedChangeIsFound) {
  s.create(b, "/a");
  watch_data("/a");
  s.reconnect(a, s.last, {{"/a"}, {}, {}, {}, {}});
  s.tell_event(a, {EventType::kNodeDataChanged, "/a", Zxid{-1}});
  EXPECT_REJECTED(s, "I9: client 0 was told afterwards that /a was changed, and it was not");
}

TEST_F(WatchesTest, MissedChangesAreReportedOnlyAfterAReconnect) {
  s.create(b, "/a");
  watch_data("/a");
  s.set(b, "/a");
  s.tell_event(a, {EventType::kNodeDataChanged, "/a", Zxid{-1}});
  EXPECT_REJECTED(s, "was told afterwards");
}

TEST_F(WatchesTest, NodeCreatedAndDeletedMeanwhileNeedsNoEvent) {
  watch_exists("/awaited");
  const Zxid seen = s.last;
  s.create(b, "/awaited");
  s.remove(b, "/awaited");
  s.reconnect(a, seen, {{}, {"/awaited"}, {}, {}, {}});
  s.sync(a);
  s.create(b, "/awaited");
  s.tell_events(a);
  s.sync(a);
  EXPECT_ACCEPTED(s);
}

TEST_F(WatchesTest, NodeCreatedMeanwhileNeedsAnEvent) {
  watch_exists("/awaited");
  s.create(b, "/awaited");
  s.reconnect(a, s.last, {{}, {}, {}, {}, {}});
  s.sync(a);
  EXPECT_REJECTED(s, "before it was told that /awaited was created");
}

TEST_F(WatchesTest, PersistentWatchesMayMissEventsWhileDisconnected) {
  s.create(b, "/a");
  watch_persistent("/a");
  watch_recursive("/");
  const Zxid seen = s.last;
  s.set(b, "/a");
  s.reconnect(a, seen, {{}, {}, {}, {"/a"}, {"/"}});
  s.set(b, "/a", "heard again");
  s.tell_events(a);
  s.sync(a);
  EXPECT_ACCEPTED(s);
}

TEST_F(WatchesTest, PersistentWatchesMissNothingAfterTheFirstReply) {
  s.create(b, "/a");
  watch_persistent("/a");
  s.reconnect(a, s.last, {{}, {}, {}, {"/a"}, {}});
  s.sync(a);
  s.set(b, "/a");
  s.events(a).clear();
  s.sync(a);
  EXPECT_REJECTED(s, "before it was told that /a was changed");
}

TEST_F(WatchesTest, PersistentWatchesMissNothingAfterTheFirstEvent) {
  s.create(b, "/a");
  watch_persistent("/a");
  s.reconnect(a, s.last, {{}, {}, {}, {"/a"}, {}});
  s.set(b, "/a", "1");
  s.set(b, "/a", "2");
  s.set(b, "/a", "3");
  s.events(a).erase(s.events(a).begin() + 1);
  s.tell_events(a);
  EXPECT_REJECTED(s, "was changed at 0x500000006, but next was changed at 0x500000005");
}

}  // namespace
}  // namespace drover::sim
