// SPDX-License-Identifier: Apache-2.0
//
// The golden texts were printed by Java ZooKeeper 3.8.0 with the whitelist `*`; only values were shortened.
#include "monitor/four_letter_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr SessionId kFirst{0x100000d3f370000};
constexpr SessionId kSecond{0x100000d3f370001};

Facts facts() {
  Facts f;
  f.version = "3.9.5-drover-0.1.0, built on 2026-11-15 00:00 UTC";
  f.latency_ms = {.count = 152, .sum = 139, .min = 0, .max = 10};
  f.packets_received = 165;
  f.packets_sent = 168;
  f.alive_connections = 3;
  f.last_zxid = Zxid{0x92};
  f.node_count = 9;
  return f;
}

ConnectionFacts connection() {
  ConnectionFacts c;
  c.remote = "127.0.0.1:60286";
  c.received = 4;
  c.sent = 5;
  c.session = kSecond;
  c.last_operation = "GETD";
  c.established = {1794731008438};
  c.timeout_ms = 10000;
  c.last_cxid = 3;
  c.last_zxid = Zxid{0x92};
  c.last_response_ms = 877859;
  c.latency_ms = {.count = 4, .sum = 5, .min = 0, .max = 2};
  return c;
}

ConnectionFacts word_connection() {
  ConnectionFacts c;
  c.remote = "127.0.0.1:60306";
  c.interest_ops = 0;
  c.received = 1;
  return c;
}

std::string answer_of(std::string_view word, const Facts& f) { return render(*word_named(word), f); }

TEST(FourLetterWords, EveryWordIsRecognisedByItsBytes) {
  for (const Word& word : four_letter_words()) {
    EXPECT_EQ(recognise(word.bytes), &word);
    EXPECT_EQ(recognise(std::string(word.bytes) + "\n"), &word);
  }
  EXPECT_EQ(recognise("ruok"), word_named("ruok"));
  EXPECT_EQ(recognise("\xff\xf4\xff\xfd"), word_named("telnet close"));
}

TEST(FourLetterWords, OtherBytesAreNotAWord) {
  EXPECT_EQ(recognise(""), nullptr);
  EXPECT_EQ(recognise("ruo"), nullptr);
  EXPECT_EQ(recognise("RUOK"), nullptr);
  EXPECT_EQ(recognise(std::string_view("\0\0\0\x2d", 4)), nullptr);
  EXPECT_EQ(recognise("teln"), nullptr);
}

TEST(FourLetterWords, TheTraceMaskIsTheEightBytesAfterItsWord) {
  EXPECT_EQ(trace_mask_of(std::string_view("\0\0\0\0\0\0\1\x32", 8)), 306);
  EXPECT_EQ(trace_mask_of("\xff\xff\xff\xff\xff\xff\xff\xff"), -1);
  EXPECT_EQ(trace_mask_of(std::string_view("\0\0\0\0\0\0\1", 7)), std::nullopt);
}

TEST(FourLetterWhitelist, TheDefaultAllowsWordsThatRevealNothingAboutClients) {
  const Whitelist standard = Whitelist::standard();
  for (const std::string_view word : {"srvr", "ruok", "isro", "mntr", "conf", "envi"}) {
    EXPECT_TRUE(standard.allows(word)) << word;
  }
  for (const std::string_view word : {"cons", "stat", "dump", "wchc", "wchp", "crst", "srst", "stmk"}) {
    EXPECT_FALSE(standard.allows(word)) << word;
  }
}

TEST(FourLetterWhitelist, AListReplacesTheDefaultButSrvrAlwaysRuns) {
  const Whitelist list = Whitelist::parse(" stat, ,dump ");
  EXPECT_TRUE(list.allows("stat"));
  EXPECT_TRUE(list.allows("dump"));
  EXPECT_TRUE(list.allows("srvr"));
  EXPECT_FALSE(list.allows("mntr"));
}

TEST(FourLetterWhitelist, AStarAllowsAll) {
  EXPECT_TRUE(Whitelist::parse("*").allows("wchp"));
  EXPECT_TRUE(Whitelist::parse("ruok, *").allows("stmk"));
}

TEST(FourLetterWhitelist, UnknownWordsAreReported) {
  std::vector<std::string> unknown;
  Whitelist::parse("ruok,status", &unknown);
  EXPECT_THAT(unknown, testing::ElementsAre("status"));
}

TEST(FourLetterWhitelist, ARefusedWordIsAnsweredWithAnError) {
  EXPECT_EQ(refusal(*word_named("cons")), "cons is not executed because it is not in the whitelist.\n");
}

TEST(FourLetterText, Srvr) {
  EXPECT_EQ(answer_of("srvr", facts()),
            "Zookeeper version: 3.9.5-drover-0.1.0, built on 2026-11-15 00:00 UTC\n"
            "Latency min/avg/max: 0/0.9145/10\n"
            "Received: 165\n"
            "Sent: 168\n"
            "Connections: 3\n"
            "Outstanding: 0\n"
            "Zxid: 0x92\n"
            "Mode: standalone\n"
            "Node count: 9\n");
}

TEST(FourLetterText, SrvrOfALeaderShowsProposalSizes) {
  Facts f = facts();
  f.mode = ServerMode::kLeader;
  EXPECT_THAT(answer_of("srvr", f),
              HasSubstr("Mode: leader\nNode count: 9\nProposal sizes last/min/max: -1/-1/-1\n"));
}

TEST(FourLetterText, SrvrOfAReadOnlyServerShowsItOnTheSecondLine) {
  Facts f = facts();
  f.mode = ServerMode::kReadOnly;
  EXPECT_THAT(answer_of("srvr", f),
              HasSubstr(" UTC\nREAD-ONLY mode; serving only read-only clients\nLatency"));
  EXPECT_THAT(answer_of("srvr", f), HasSubstr("Mode: read-only\n"));
}

TEST(FourLetterText, StatPutsTheClientsBetweenVersionAndNumbers) {
  Facts f = facts();
  f.connections = {connection(), word_connection()};
  EXPECT_THAT(answer_of("stat", f),
              StartsWith("Zookeeper version: 3.9.5-drover-0.1.0, built on 2026-11-15 00:00 UTC\n"
                         "Clients:\n"
                         " /127.0.0.1:60286[1](queued=0,recved=4,sent=5)\n"
                         " /127.0.0.1:60306[0](queued=0,recved=1,sent=0)\n"
                         "\n"
                         "Latency min/avg/max: 0/0.9145/10\n"));
}

TEST(FourLetterText, ConsShowsTheSessionOfAConnectionThatHasOne) {
  Facts f = facts();
  f.connections = {connection(), word_connection()};
  EXPECT_EQ(answer_of("cons", f),
            " /127.0.0.1:60286[1](queued=0,recved=4,sent=5,sid=0x100000d3f370001,lop=GETD,est=1794731008438,"
            "to=10000,lcxid=0x3,lzxid=0x92,lresp=877859,llat=0,minlat=0,avglat=1,maxlat=2)\n"
            " /127.0.0.1:60306[0](queued=0,recved=1,sent=0)\n"
            "\n");
}

TEST(FourLetterText, ConsOmitsTheCxidBeforeTheFirstRequest) {
  Facts f = facts();
  f.connections = {connection()};
  f.connections[0].last_cxid = -1;
  f.connections[0].last_zxid = Zxid{-1};
  EXPECT_THAT(answer_of("cons", f), HasSubstr(",to=10000,lzxid=0xffffffffffffffff,"));
}

TEST(FourLetterText, Conf) {
  Facts f = facts();
  f.conf = ConfFacts{.client_port = 23181,
                     .data_dir = "/var/lib/zookeeper/version-2",
                     .data_log_dir = "/var/log/zookeeper/version-2",
                     .tick_time_ms = 2000,
                     .max_client_cnxns = 60,
                     .min_session_timeout_ms = 4000,
                     .max_session_timeout_ms = 40000,
                     .quorum = std::nullopt};
  f.data_dir_bytes = 67109337;
  f.log_dir_bytes = 12;
  const std::string standalone =
      "clientPort=23181\nsecureClientPort=-1\ndataDir=/var/lib/zookeeper/version-2\ndataDirSize=67109337\n"
      "dataLogDir=/var/log/zookeeper/version-2\ndataLogSize=12\ntickTime=2000\nmaxClientCnxns=60\n"
      "minSessionTimeout=4000\nmaxSessionTimeout=40000\nclientPortListenBacklog=-1\nserverId=0\n";
  EXPECT_EQ(answer_of("conf", f), standalone);

  f.conf->quorum = ConfFacts::Quorum{.init_limit_ticks = 10,
                                     .sync_limit_ticks = 5,
                                     .election_ports = "3888",
                                     .quorum_ports = "2888",
                                     .membership = "server.1=zk1:2888:3888:participant\nversion=0"};
  EXPECT_EQ(answer_of("conf", f),
            standalone +
                "initLimit=10\nsyncLimit=5\nelectionAlg=3\nelectionPort=3888\nquorumPort=2888\npeerType=0\n"
                "membership: \nserver.1=zk1:2888:3888:participant\nversion=0");
}

TEST(FourLetterText, Dump) {
  Facts f = facts();
  f.session_buckets = {{{1794731018000}, {kFirst, kSecond}}};
  f.ephemerals = {{kFirst, {"/e", "/e2"}}, {kSecond, {"/e3"}}};
  f.connection_buckets = {
      {{1794731010000}, {}},
      {{1794731020000}, {{"127.0.0.1:60286", kSecond}, {"127.0.0.1:60332", SessionId{0}}}}};
  EXPECT_EQ(answer_of("dump", f),
            "SessionTracker dump:\n"
            "Session Sets (1)/(2):\n"
            "2 expire at Sun Nov 15 08:23:38 UTC 2026:\n"
            "\t0x100000d3f370000\n"
            "\t0x100000d3f370001\n"
            "ephemeral nodes dump:\n"
            "Sessions with Ephemerals (2):\n"
            "0x100000d3f370000:\n"
            "\t/e\n"
            "\t/e2\n"
            "0x100000d3f370001:\n"
            "\t/e3\n"
            "Connections dump:\n"
            "Connections Sets (2)/(2):\n"
            "0 expire at Sun Nov 15 08:23:30 UTC 2026:\n"
            "2 expire at Sun Nov 15 08:23:40 UTC 2026:\n"
            "\tip: /127.0.0.1:60286 sessionId: 0x100000d3f370001\n"
            "\tip: /127.0.0.1:60332 sessionId: 0x0\n");
}

TEST(FourLetterText, DumpOfALearnerAndOfLocalSessions) {
  const std::string rest =
      "ephemeral nodes dump:\nSessions with Ephemerals (0):\n"
      "Connections dump:\nConnections Sets (0)/(0):\n";
  const std::vector<SessionBucket> one{{WallTime{1794730000000}, {SessionId{0x3}}}};
  Facts learner = facts();
  learner.global_sessions = {{SessionId{0x1}, 4000}, {SessionId{0x2}, 10000}};
  EXPECT_EQ(answer_of("dump", learner),
            "SessionTracker dump:\nGlobal Sessions(2):\n0x1\t4000ms\n0x2\t10000ms\n" + rest);
  learner.local_session_buckets = one;
  learner.global_sessions->clear();
  EXPECT_EQ(
      answer_of("dump", learner),
      "SessionTracker dump:\nLocal Session Sets (1)/(1):\n1 expire at Sun Nov 15 08:06:40 UTC 2026:\n\t0x3\n"
      "Global Sessions(0):\n" +
          rest);
  Facts leader = facts();
  leader.local_session_buckets.emplace();
  leader.session_buckets = one;
  EXPECT_EQ(answer_of("dump", leader),
            "SessionTracker dump:\nLocal Session Sets (0)/(0):\n"
            "Global Session Sets (1)/(1):\n1 expire at Sun Nov 15 08:06:40 UTC 2026:\n\t0x3\n" +
                rest);
}

TEST(FourLetterText, ShortAnswers) {
  Facts f = facts();
  f.data_dir_bytes = 67109337;
  f.log_dir_bytes = 5;
  f.environment = {{"zookeeper.version", "3.9.5-drover-0.1.0"}, {"os.name", "Linux"}};
  f.digests = {{Zxid{0x80}, 9436841568}};
  EXPECT_EQ(answer_of("ruok", f), "imok");
  EXPECT_EQ(answer_of("isro", f), "rw");
  EXPECT_EQ(answer_of("gtmk", f), "306");
  EXPECT_EQ(answer_of("stmk", f), "306");
  EXPECT_EQ(answer_of("crst", f), "Connection stats reset.\n");
  EXPECT_EQ(answer_of("srst", f), "Server stats reset.\n");
  EXPECT_EQ(answer_of("dirs", f), "datadir_size: 67109337\nlogdir_size: 5\n");
  EXPECT_EQ(answer_of("envi", f), "Environment:\nzookeeper.version=3.9.5-drover-0.1.0\nos.name=Linux\n");
  EXPECT_EQ(answer_of("hash", f), "80: 9436841568\n");
  EXPECT_EQ(answer_of("telnet close", f), "");
}

TEST(FourLetterText, Watches) {
  Facts f = facts();
  f.watching_connections = 2;
  f.watched_paths = 1;
  f.total_watches = 2;
  f.watches_by_session = {{kSecond, {"/p"}}, {kFirst, {"/p", "/q"}}};
  f.watches_by_path = {{"/p", {kFirst, kSecond}}};
  EXPECT_EQ(answer_of("wchs", f), "2 connections watching 1 paths\nTotal watches:2\n");
  EXPECT_EQ(answer_of("wchc", f), "0x100000d3f370001\n\t/p\n0x100000d3f370000\n\t/p\n\t/q\n\n");
  EXPECT_EQ(answer_of("wchp", f), "/p\n\t0x100000d3f370000\n\t0x100000d3f370001\n\n");
  EXPECT_EQ(answer_of("wchp", facts()), "\n");
}

TEST(FourLetterText, MntrBeginsWithVersionAndState) {
  Facts f = facts();
  f.metrics = {{"znode_count", 9}, {"avg_latency", 0.5}, {"connection_drop_probability", 0.0}};
  EXPECT_EQ(answer_of("mntr", f),
            "zk_version\t3.9.5-drover-0.1.0, built on 2026-11-15 00:00 UTC\n"
            "zk_server_state\tstandalone\n"
            "zk_znode_count\t9\n"
            "zk_avg_latency\t0.5\n"
            "zk_connection_drop_probability\t0.0\n");
  f.peer_state = "leading - broadcast";
  EXPECT_THAT(answer_of("mntr", f),
              HasSubstr("zk_server_state\tstandalone\nzk_peer_state\tleading - broadcast\n"));
}

TEST(FourLetterText, SummariesHaveJavasFiveLinesAndFourPercentiles) {
  Facts f = facts();
  f.metrics.push_back({"fsynctime", Extremes{.count = 146, .sum = 6, .min = 0, .max = 2}});
  f.metrics.push_back(
      {"readlatency",
       Percentiles{
           .summary = {.count = 6, .sum = 4, .min = 0, .max = 2}, .p50 = 1, .p95 = 2, .p99 = 2, .p999 = 2}});
  EXPECT_THAT(
      answer_of("mntr", f),
      HasSubstr(
          "zk_avg_fsynctime\t0.0411\nzk_min_fsynctime\t0\nzk_max_fsynctime\t2\nzk_cnt_fsynctime\t146\n"
          "zk_sum_fsynctime\t6\n"
          "zk_avg_readlatency\t0.6667\nzk_min_readlatency\t0\nzk_max_readlatency\t2\n"
          "zk_cnt_readlatency\t6\nzk_sum_readlatency\t4\n"
          "zk_p50_readlatency\t1\nzk_p95_readlatency\t2\nzk_p99_readlatency\t2\nzk_p999_readlatency\t2\n"));
}

TEST(FourLetterText, AServerThatDoesNotServeAnswersAsJavaDoes) {
  Facts f = facts();
  f.serving = false;
  const std::string sorry = "This ZooKeeper instance is not currently serving requests";
  for (const std::string_view word :
       {"srvr", "stat", "mntr", "conf", "cons", "dump", "dirs", "crst", "srst", "wchs", "wchc", "wchp"}) {
    EXPECT_EQ(answer_of(word, f), sorry + "\n") << word;
  }
  EXPECT_EQ(answer_of("hash", f), sorry);
  EXPECT_EQ(answer_of("isro", f), "null");
  EXPECT_EQ(answer_of("ruok", f), "imok");
  EXPECT_EQ(answer_of("gtmk", f), "306");
  EXPECT_EQ(answer_of("envi", f), "Environment:\n");
}

TEST(FourLetterText, CheapWordsNeedNoExpensiveFacts) {
  const Needs ruok = word_named("ruok")->needs;
  EXPECT_FALSE(ruok.connections || ruok.metrics || ruok.watches || ruok.sessions_and_ephemerals ||
               ruok.directory_sizes || ruok.environment || ruok.digests || ruok.watch_counts);
  EXPECT_TRUE(word_named("dump")->needs.sessions_and_ephemerals);
  EXPECT_TRUE(word_named("conf")->needs.directory_sizes);
}

}  // namespace
}  // namespace drover::server
