// SPDX-License-Identifier: Apache-2.0
#include "dashboard/member_probe.h"
#include "zab/membership_text.h"

#include <gtest/gtest.h>

namespace drover::server {
namespace {

TEST(MemberProbe, ReadsTheAnswerOfJava) {
  const auto said = parse_srvr(
      "Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25 08:49 UTC\n"
      "Latency min/avg/max: 0/1.25/30\nReceived: 7\nSent: 6\nConnections: 4\nOutstanding: 2\n"
      "Zxid: 0x500000007\nMode: leader\nNode count: 12\nProposal sizes last/min/max: 48/48/48\n");
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->version, "3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f");
  EXPECT_EQ(said->mode, "leader");
  EXPECT_EQ(said->zxid, Zxid{0x5'0000'0007});
  EXPECT_EQ(said->connections, 4);
  EXPECT_EQ(said->outstanding, 2);
  EXPECT_EQ(said->nodes, 12);
  EXPECT_EQ(said->latency_avg, 1.25);
  EXPECT_EQ(said->latency_max, 30);
}

TEST(MemberProbe, IgnoresALatencyThatJsonCannotExpress) {
  const auto said = [](const std::string& latencies) {
    return *parse_srvr("Latency min/avg/max: " + latencies + "\nZxid: 0x1\nMode: leader\n");
  };
  const ServerSaid odd = said("nan/inf/7");
  EXPECT_EQ(odd.latency_min, 0);
  EXPECT_EQ(odd.latency_avg, 0);
  EXPECT_EQ(odd.latency_max, 7);
  EXPECT_EQ(said("-inf/1e999/NaN(7)").latency_avg, 0);
  EXPECT_EQ(said("-inf/1e999/NaN(7)").latency_max, 0);
}

TEST(MemberProbe, AServerWithoutALeaderHasNoMode) {
  const auto said = parse_srvr("This ZooKeeper instance is not currently serving requests\n");
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->mode, "");
}

TEST(MemberProbe, OtherTextIsNotAnAnswer) {
  EXPECT_FALSE(parse_srvr("").has_value());
  EXPECT_FALSE(parse_srvr("HTTP/1.1 400 Bad Request\n").has_value());
  EXPECT_FALSE(parse_srvr("Mode: leader\n").has_value());
}

TEST(MemberProbe, UsesTheConfiguredClientPortOrGuessesIt) {
  ServerConfig config;
  config.client = Endpoint{"", 2181};
  config.ensemble.my_id = ServerId{1};
  const auto add = [&](int id, std::string_view line) {
    config.ensemble.members.add(*zab::parse_server_spec(ServerId{id}, line));
  };
  add(1, "zk1:2888:3888");
  add(2, "zk2:2888:3888");               // another machine: same port as ours
  add(3, "zk1:2889:3889");               // this machine: unknown
  add(4, "zk4:2888:3888;0.0.0.0:2182");  // names its port
  const auto endpoints = client_endpoints(config, config.ensemble.members);
  EXPECT_EQ(endpoints,
            (std::map<ServerId, Endpoint>{{ServerId{2}, {"zk2", 2181}}, {ServerId{4}, {"zk4", 2182}}}));
}

TEST(MemberProbe, AClosedPortIsReportedImmediately) {
  const auto results = probe({{ServerId{1}, Endpoint{"127.0.0.1", 1}}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_FALSE(results.at(ServerId{1}).said.has_value());
  EXPECT_FALSE(results.at(ServerId{1}).error.empty());
}

}  // namespace
}  // namespace drover::server
