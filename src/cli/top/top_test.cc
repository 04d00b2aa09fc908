// SPDX-License-Identifier: Apache-2.0
//
// Replies of drover's and Java's servers become the screen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/common/human_text.h"
#include "cli/ensemble/members.h"
#include "cli/top/paths.h"
#include "cli/top/sample.h"
#include "cli/top/screen.h"

namespace drover::cli::observe {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Steady = std::chrono::steady_clock;

Answer text(std::string words) { return {heard_in(words), words}; }

std::string srvr(std::string_view mode, std::string_view zxid, int received) {
  return "Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25 08:49 UTC\n"
         "Latency min/avg/max: 0/1.8333/16\nReceived: " +
         std::to_string(received) + "\nSent: 79\nConnections: 3\nOutstanding: 2\nZxid: " + std::string(zxid) +
         "\nMode: " + std::string(mode) + "\nNode count: 12\n";
}

const std::string kMntr =
    "zk_version\t3.8.0\nzk_server_state\tfollower\nzk_global_sessions\t7\nzk_local_sessions\t1\nzk_watch_"
    "count\t40\n"
    "zk_p50_readlatency\t0\nzk_p99_readlatency\t4\nzk_p50_updatelatency\t2\nzk_p99_updatelatency\t31\n";
const std::string kRefused = "mntr is not executed because it is not in the whitelist.\n";

Sample sample(std::string_view mode, std::string_view zxid, int received = 0, int at = 0) {
  return read_sample(text(srvr(mode, zxid, received)), text(kMntr), Steady::time_point(seconds(at)));
}

Member member(std::int64_t sid) { return {.sid = sid, .address = Address{"zk" + std::to_string(sid), 2181}}; }

TEST(TopSample, SrvrAndMntrAreParsed) {
  const Sample s = sample("follower", "0x100000028", 71);
  EXPECT_EQ(s.role, "follower");
  EXPECT_EQ(s.zxid, 0x100000028);
  EXPECT_EQ(s.received, 71);
  EXPECT_EQ(s.outstanding, 2);
  EXPECT_EQ(s.sessions, 8);
  EXPECT_EQ(s.watches, 40);
  EXPECT_DOUBLE_EQ(s.latency_average.value(), 1.8333);
  EXPECT_DOUBLE_EQ(s.updates.p99.value(), 31);
  EXPECT_FALSE(s.updates.p999);
}

TEST(TopSample, ForbiddenWordIsReportedWithItsRemedy) {
  const Sample s = read_sample(text(srvr("leader", "0x1", 1)), text(kRefused), {});
  EXPECT_FALSE(s.monitor_allowed);
  EXPECT_FALSE(s.sessions);
  const Board board = make_board({member(1)}, {}, {s});
  EXPECT_THAT(board.notes, ElementsAre(HasSubstr("`mntr` is not allowed there; 4lw.commands.whitelist=")));
}

TEST(TopSample, ServerWithoutALeaderIsLooking) {
  const Answer none = text("This ZooKeeper instance is not currently serving requests\n");
  EXPECT_EQ(read_sample(none, none, {}).role, "looking");
  EXPECT_EQ(read_sample({Heard::kNothing, "Connection refused"}, {}, {}).role, "down");
}

TEST(TopBoard, LagIsComputedWithinTheLeadersEpoch) {
  const std::vector<Sample> now{sample("leader", "0x500000010"), sample("follower", "0x50000000c"),
                                sample("observer", "0x500000012"), sample("follower", "0x4000000ff")};
  const Board board = make_board({member(1), member(2), member(3), member(4)}, {}, now);
  EXPECT_EQ(board.rows[0].lag, 0);
  EXPECT_EQ(board.rows[1].lag, 4);
  EXPECT_EQ(board.rows[2].lag, 0);  // asked a moment later than the leader
  EXPECT_EQ(board.rows[3].lag, std::nullopt);
  EXPECT_EQ(board.rows[3].epoch, 4);
}

TEST(TopBoard, RatesAreBetweenTwoSamples) {
  const Board board =
      make_board({member(1)}, {sample("leader", "0x1", 100, 10)}, {sample("leader", "0x1", 700, 12)});
  EXPECT_DOUBLE_EQ(board.rows[0].requests_per_second.value(), 300);
  const Board restarted =
      make_board({member(1)}, {sample("leader", "0x1", 100, 10)}, {sample("leader", "0x1", 7, 12)});
  EXPECT_FALSE(restarted.rows[0].requests_per_second);
}

TEST(TopBoard, MissingLeaderIsReported) {
  EXPECT_THAT(make_board({member(1)}, {}, {sample("follower", "0x1")}).notes,
              ElementsAre(HasSubstr("no leader")));
}

TEST(TopScreen, RowsAreSortedAndLinesFitTheScreen) {
  Board board =
      make_board({member(2), member(1)}, {sample("leader", "0x1", 0, 0), sample("follower", "0x1", 0, 0)},
                 {sample("leader", "0x1", 10, 1), sample("follower", "0x1", 50, 1)});
  board.paths = {{"/a", 3}};
  sort_rows(board.rows, SortBy::kServer);
  EXPECT_EQ(board.rows[0].member.sid, 1);
  sort_rows(board.rows, SortBy::kLatency);
  EXPECT_EQ(board.rows[0].member.sid, 1);  // equal: as before
  sort_rows(board.rows, SortBy::kRequests);
  EXPECT_EQ(board.rows[0].sample.received, 50);
  const auto lines = lines_of(board, {.width = 30, .height = 5});
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines.back(), HasSubstr("q quit"));
  for (const std::string& line : lines) EXPECT_LE(line.size(), 30U);
}

TEST(TopPaths, ChangesAreCountedByTheFirstNamesOfAPath) {
  EXPECT_EQ(prefix_of("/a/b/c", 2), "/a/b");
  EXPECT_EQ(prefix_of("/a", 2), "/a");
  EXPECT_EQ(prefix_of("/", 1), "/");
  PathCounts counts;
  for (const char* path : {"/a/b/1", "/a/b/2", "/a/c", "/d"}) counts.add(path);
  const auto hottest = counts.hottest(2, 2);
  ASSERT_EQ(hottest.size(), 2U);
  EXPECT_EQ(hottest[0].path, "/a/b");
  EXPECT_EQ(hottest[0].changes, 2U);
  EXPECT_EQ(counts.hottest(1, 1)[0].changes, 3U);
}

TEST(TopPaths, PrefixesBeyondTheLimitAreCountedAsOthers) {
  PathCounts counts(3);
  for (int i = 0; i < 10; ++i) counts.add("/" + std::to_string(i));
  EXPECT_EQ(counts.hottest(1, 1)[0].path, "others");
  EXPECT_EQ(counts.hottest(1, 1)[0].changes, 7U);
}

TEST(TopScreen, ShowsTheVersionOfTheConfigurationIfItIsKnown) {
  Board board = make_board({member(1)}, {}, {sample("leader", "0x100000002")});
  EXPECT_TRUE(json_of(board).at("config_version").is_null());
  board.config_version = 0x100000001;
  EXPECT_THAT(lines_of(board, {}), ::testing::Contains("configuration version 0x100000001"));
  EXPECT_EQ(json_of(board).at("config_version").as_string(), "0x100000001");
}

TEST(Ensemble, MembersAreReadFromTheConfiguration) {
  const auto members = members_in(
      "server.1=zk1:2888:3888:participant;0.0.0.0:2181\nserver.2=zk2:2888:3888:observer;10.0.0.2:2182\n"
      "server.3=[::1]:2888:3888;2183\nserver.4=zk4:2888:3888:participant\nversion=100000000\n");
  ASSERT_EQ(members.size(), 4U);
  EXPECT_EQ(members[0].address, (Address{"zk1", 2181}));
  EXPECT_EQ(members[1].address, (Address{"10.0.0.2", 2182}));
  EXPECT_TRUE(members[1].observer);
  EXPECT_EQ(members[2].address, (Address{"::1", 2183}));
  EXPECT_EQ(members[3].address, std::nullopt);
  EXPECT_EQ(join_members(members, {{"zk1", 2181}, {"zk4", 2181}}).size(), 5U);
}

TEST(Ensemble, SessionsAreParsedFromCons) {
  std::map<std::int64_t, std::string> addresses;
  read_connections(
      " /127.0.0.1:51234[1](queued=0,recved=5,sent=5,sid=0x1000a2b3c0d0001,lop=PING,est=1,to=30000)\n"
      " /[0:0:0:0:0:0:0:1]:51235[1](queued=0,recved=5,sent=5,sid=0xff00a2b3c0d00002,lop=NA,est=1,to=30000)\n"
      " /127.0.0.1:51236[0](queued=0,recved=1,sent=0)\n\n",
      addresses);
  ASSERT_EQ(addresses.size(), 2U);
  EXPECT_EQ(addresses[0x1000a2b3c0d0001], "127.0.0.1:51234");
  EXPECT_EQ(addresses[static_cast<std::int64_t>(0xff00a2b3c0d00002)], "[0:0:0:0:0:0:0:1]:51235");
}

TEST(Options, AddressesAreReadAsConnectStringsAre) {
  EXPECT_THAT(
      addresses_of("zk1:2182, zk2,[::1]:2183,::1/app"),
      ElementsAre(Address{"zk1", 2182}, Address{"zk2", 2181}, Address{"::1", 2183}, Address{"::1", 2181}));
}

TEST(Text, ValuesAreReadable) {
  EXPECT_EQ(duration_text(-5), "0 ms");
  EXPECT_EQ(duration_text(61'000), "1 min 1 s");
  EXPECT_EQ(duration_text(7'200'000), "2 h");
  EXPECT_EQ(data_text("abc"), "\"abc\"");
  EXPECT_EQ(data_text(std::string("\x1b[2J")), "4 bytes");  // a terminal is not steered by data
  EXPECT_EQ(data_text("grün", 3), "\"grü…\"");
  EXPECT_EQ(safe_text("a\x1b"
                      "b\xff"),
            "a?b?");
  EXPECT_THAT(Table({"a", "", "c"}).lines(), ElementsAre(""));
}

}  // namespace
}  // namespace drover::cli::observe
