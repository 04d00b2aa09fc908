// SPDX-License-Identifier: Apache-2.0
//
// Reads that a client could make large: by requesting the same node again and again, by long paths, by many
// watches.
#include <gtest/gtest.h>

#include <string>

#include "state/read_testing.h"

namespace drover::state {
namespace {

using namespace testing;
using wire::testing::multi_body;
using wire::testing::path_body;
using wire::testing::path_type_body;
using wire::testing::path_watch_body;
using wire::testing::PathList;
using wire::testing::set_watches_body;

class ReadLimits : public ::testing::Test {
 protected:
  ReadOutcome outcome(OpCode op, std::string_view body) {
    std::string out;
    return answer_read(leader_.machine, c_.watches, c_.limits,
                       {.session = c_.session,
                        .xid = 7,
                        .op = op,
                        .body = body,
                        .who = &c_.who,
                        .watcher = c_.watcher,
                        .reply_bytes_max = c_.reply_bytes_max},
                       out);
  }

  Leader leader_;
  Connection c_{leader_.machine};
};

TEST_F(ReadLimits, AMultiReadThatRepeatsALargeNodeIsRefused) {
  leader_.create("/large", {.data = std::string(10'000, 'x')});
  c_.reply_bytes_max = 100'000;
  using Ops = std::vector<std::pair<OpCode, std::string>>;
  const auto body = [](std::size_t n) {
    return multi_body(Ops(n, {OpCode::kGetData, path_watch_body("/large")}));
  };
  EXPECT_EQ(c_.error(OpCode::kMultiRead, body(9)), ErrorCode::kOk);
  EXPECT_EQ(c_.error(OpCode::kMultiRead, body(50)), ErrorCode::kQuotaExceeded);
  std::string out;
  answer_read(leader_.machine, c_.watches, c_.limits,
              {.session = c_.session,
               .xid = 7,
               .op = OpCode::kMultiRead,
               .body = body(5000),
               .who = &c_.who,
               .watcher = c_.watcher,
               .reply_bytes_max = c_.reply_bytes_max},
              out);
  EXPECT_LT(out.capacity(), 300'000u) << "it stops as soon as the reply is too large";
}

TEST_F(ReadLimits, AMultiReadListsOnlySoManyChildren) {
  leader_.create("/wide");
  for (int i = 0; i < 10; ++i) leader_.create("/wide/" + std::to_string(i));
  c_.nodes_max = 30;
  using Ops = std::vector<std::pair<OpCode, std::string>>;
  Ops ops(3, {OpCode::kGetChildren, path_watch_body("/wide")});
  for (int i = 0; i < 50; ++i) ops.push_back({OpCode::kGetData, path_watch_body("/wide")});
  EXPECT_EQ(c_.error(OpCode::kMultiRead, multi_body(ops)), ErrorCode::kOk);
  ops.push_back({OpCode::kGetChildren, path_watch_body("/wide")});
  EXPECT_EQ(c_.error(OpCode::kMultiRead, multi_body(ops)), ErrorCode::kQuotaExceeded);
}

TEST_F(ReadLimits, OnlySoManyEphemeralsAreSearched) {
  for (int i = 0; i < 11; ++i) leader_.create("/e" + std::to_string(i), {.flags = wire::kEphemeral});
  c_.nodes_max = 11;
  EXPECT_EQ(c_.error(OpCode::kGetEphemerals, path_body("/none")), ErrorCode::kOk);
  c_.nodes_max = 10;
  EXPECT_EQ(c_.error(OpCode::kGetEphemerals, path_body("/none")), ErrorCode::kQuotaExceeded);
}

TEST_F(ReadLimits, ALongListOfChildrenIsLeftToSomebodyElse) {
  leader_.create("/wide");
  for (int i = 0; i < 10; ++i) leader_.create("/wide/" + std::to_string(i));
  std::string out = "before";
  const std::string body = path_watch_body("/wide", true);
  const auto outcome = answer_read(leader_.machine, c_.watches, c_.limits,
                                   {.session = c_.session,
                                    .op = OpCode::kGetChildren,
                                    .body = body,
                                    .who = &c_.who,
                                    .watcher = c_.watcher,
                                    .children_max = 9},
                                   out);
  EXPECT_TRUE(outcome.has_too_many_children);
  EXPECT_EQ(out, "before");
  EXPECT_TRUE(c_.watches.empty());
}

TEST_F(ReadLimits, ASingleNodeOfAnySizeCanBeRead) {
  leader_.create("/large", {.data = std::string(10'000, 'x')});
  c_.reply_bytes_max = 100;
  EXPECT_EQ(c_.error(OpCode::kGetData, path_watch_body("/large")), ErrorCode::kOk);
}

TEST_F(ReadLimits, TheListOfEphemeralsIsLimitedInBytes) {
  // Small in the tree, which stores the long name once.
  const std::string parent = "/" + std::string(10'000, 'x');
  leader_.create(parent);
  for (int i = 0; i < 20; ++i) leader_.create(parent + "/" + std::to_string(i), {.flags = wire::kEphemeral});
  c_.reply_bytes_max = 250'000;
  EXPECT_EQ(c_.error(OpCode::kGetEphemerals, path_body("/")), ErrorCode::kOk);
  c_.reply_bytes_max = 100'000;
  EXPECT_EQ(c_.error(OpCode::kGetEphemerals, path_body("/")), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(c_.error(OpCode::kGetEphemerals, path_body("/other")), ErrorCode::kOk);
  c_.reply_bytes_max = 40'000;
  EXPECT_EQ(c_.error(OpCode::kGetEphemerals, path_body("/other")), ErrorCode::kQuotaExceeded)
      << "visiting all of them costs, too";
}

TEST_F(ReadLimits, TheCostOfAReadIsTheNumberOfNodesItVisits) {
  leader_.create("/p");
  for (int i = 0; i < 5; ++i) leader_.create("/p/" + std::to_string(i), {.flags = wire::kEphemeral});
  EXPECT_EQ(outcome(OpCode::kGetData, path_watch_body("/p")).looked_at, 0u);
  EXPECT_EQ(outcome(OpCode::kGetChildren, path_watch_body("/p")).looked_at, 5u);
  EXPECT_EQ(outcome(OpCode::kGetEphemerals, path_body("/none")).looked_at, 5u);
  EXPECT_EQ(outcome(OpCode::kGetAllChildrenNumber, path_body("/p")).looked_at, 0u)
      << "the tree keeps count, however large it is";
  EXPECT_EQ(outcome(OpCode::kSetWatches, set_watches_body(Zxid{1}, {PathList{"/p", "/q"}, {}, {}})).looked_at,
            2u);
}

TEST_F(ReadLimits, WatchesAreAlsoLimitedInBytes) {
  c_.limits.bytes_per_connection = 1000;
  const std::string path = "/" + std::string(599, 'x');
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body(path, true)), ErrorCode::kNoNode);
  EXPECT_EQ(c_.watches.path_bytes(c_.watcher), 600u);
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body(path + "y", true)), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body(path + "y", 1)), ErrorCode::kQuotaExceeded);
  EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body(path, 1)), ErrorCode::kOk) << "no further path";
  c_.watcher = WatcherId{1};
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body(path + "y", true)), ErrorCode::kNoNode);
  c_.limits.bytes_per_table = 1300;
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body("/" + std::string(200, 'z'), true)),
            ErrorCode::kQuotaExceeded)
      << "all together";
  c_.watches.forget(WatcherId{0});
  c_.watches.forget(WatcherId{1});
  EXPECT_EQ(c_.watches.path_bytes(), 0u);
}

TEST_F(ReadLimits, APathTooLongForANodeCannotBeWatched) {
  const std::string path = "/" + std::string(leader_.machine.options.path_bytes_max, 'x');
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body(path)), ErrorCode::kNoNode);
  EXPECT_EQ(c_.error(OpCode::kExists, path_watch_body(path, true)), ErrorCode::kBadArguments);
  EXPECT_EQ(c_.error(OpCode::kAddWatch, path_type_body(path, 0)), ErrorCode::kBadArguments);
  EXPECT_EQ(c_.error(OpCode::kSetWatches, set_watches_body(Zxid{1}, {{}, PathList{path}, {}})),
            ErrorCode::kBadArguments);
  EXPECT_TRUE(c_.watches.empty());
}

}  // namespace
}  // namespace drover::state
