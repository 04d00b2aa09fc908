// SPDX-License-Identifier: Apache-2.0
//
// A client whose servers change: set_servers(), and following the ensemble's configuration.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/client_testing.h"

namespace drover::client::testing {
namespace {

using Servers = std::vector<ServerAddress>;

EngineOptions following(Servers given = {{"given", 2181}}) {
  EngineOptions options;
  options.servers = std::move(given);
  options.follow_ensemble = true;
  return options;
}

std::string config_of(const std::vector<std::string>& hosts, int version = 1) {
  std::string text;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    text += "server." + std::to_string(i + 1) + "=" + hosts[i] + ":2888:3888:participant;0.0.0.0:2181\n";
  }
  return text + "version=" + std::to_string(version);
}

Servers at(const std::vector<std::string>& hosts) {
  Servers servers;
  for (const std::string& host : hosts) servers.push_back({host, 2181});
  return servers;
}

const std::string kConfigChanged =
    Bench::event(wire::EventType::kNodeDataChanged, "/zookeeper/config", 0x100000001);

class Following : public ::testing::Test {
 protected:
  static void answer_config(World& world, std::string_view text) {
    const Request request = world.answer_next(OpCode::kGetData, World::node_bytes(text));
    EXPECT_EQ(request.body, path_watch_body("/zookeeper/config", true));
  }
};

TEST_F(Following, OffByDefault) {
  World world;
  world.accept();
  EXPECT_EQ(world.sent, "");
}

TEST_F(Following, ListFollowsTheConfiguration) {
  World world(following());
  world.accept();
  answer_config(world, config_of({"a", "b", "c"}));
  EXPECT_EQ(world.servers, at({"a", "b", "c"}));
  EXPECT_EQ(world.hang_ups, 0) << "a server of another name that serves us is not left";
  world.hear(kConfigChanged);
  answer_config(world, config_of({"a", "b"}, 2));
  EXPECT_EQ(world.servers, at({"a", "b"}));
  world.lose();
  world.accept();
  EXPECT_EQ(world.states.back().state, ConnectionState::kConnected);
}

TEST_F(Following, ServerThatIsRemovedIsLeft) {
  World world(following(at({"a"})));
  world.accept();
  answer_config(world, config_of({"a"}));
  EXPECT_EQ(world.hang_ups, 0);
  world.hear(kConfigChanged);
  answer_config(world, config_of({"b"}, 2));
  EXPECT_EQ(world.hang_ups, 1);
  world.pass(100);
  EXPECT_EQ(world.dialled, 0u);
}

TEST_F(Following, StaleConnectStringIsNoticedByItsOtherNames) {
  World world(following(at({"a", "b"})));
  const std::size_t mine = *world.dialled;
  world.accept();
  answer_config(world, config_of({mine == 0 ? "b" : "a", "c"}));
  EXPECT_EQ(world.hang_ups, 1) << "names can be compared, and ours is gone";
}

TEST_F(Following, ServerIsRecognisedByItsNumber) {
  World world(following({{"localhost", 2181}}));
  world.driver->on_peer({"127.0.0.1", 2181});
  world.accept();
  answer_config(world, config_of({"127.0.0.1"}));
  world.hear(kConfigChanged);
  answer_config(world, config_of({"10.0.0.1"}, 2));
  EXPECT_EQ(world.hang_ups, 1) << "it was removed";
}

TEST_F(Following, OlderConfigurationIsIgnored) {
  World world(following());
  world.accept();
  answer_config(world, config_of({"a", "b", "c"}, 5));
  world.hear(kConfigChanged);
  answer_config(world, config_of({"a"}, 4));
  EXPECT_EQ(world.servers, at({"a", "b", "c"}));
}

TEST_F(Following, TextWithoutUsableServersChangesNothing) {
  for (const std::string& text :
       {std::string(), std::string("server.1=a:2888:3888:participant\nversion=1"), std::string("version=9"),
        std::string("server.1=a/b:1:2;3"), std::string(100'000, '='), std::string("\0\n\0", 3)}) {
    World world(following());
    world.accept();
    answer_config(world, text);
    EXPECT_TRUE(world.servers.empty()) << text.substr(0, 50);
    EXPECT_EQ(world.hang_ups, 0);
    EXPECT_EQ(world.sent, "");
  }
}

TEST_F(Following, NullDataChangesNothing) {
  World world(following());
  world.accept();
  world.answer_next(OpCode::kGetData, std::string(4, '\xff') + World::stat_bytes());
  EXPECT_TRUE(world.servers.empty());
}

TEST_F(Following, WithoutRightsTheClientAsksAgainOnTheNextConnection) {
  World world(following());
  world.accept();
  world.answer_next(OpCode::kGetData, {}, ErrorCode::kNoAuth);
  world.pass(1000);
  EXPECT_EQ(world.sent, "");
  world.lose();
  world.accept();
  world.answer_next(OpCode::kGetData, {}, ErrorCode::kNoNode);
  EXPECT_TRUE(world.servers.empty());
}

TEST_F(Following, TlsUsesSecurePorts) {
  EngineOptions options = following();
  options.secure = true;
  World world(options);
  world.accept();
  answer_config(world, config_of({"a", "b"}));
  EXPECT_TRUE(world.servers.empty()) << "plain ports are of no use";
  world.hear(kConfigChanged);
  answer_config(world, "server.1=a:2888:3888;2181;2281\nserver.2=b:2888:3888;2181\nversion=2");
  EXPECT_EQ(world.servers, (Servers{{"a", 2281}}));
}

TEST_F(Following, WatchIsKeptOnReconnectAndSetAgainInANewSession) {
  World world(following());
  world.accept();
  answer_config(world, config_of({"a"}));
  world.lose();
  world.accept();
  const Request kept = world.take_request();
  EXPECT_EQ(kept.xid, kSetWatchesXid);
  EXPECT_EQ(world.sent, "");
  world.expire();
  world.accept(SessionId{77});
  answer_config(world, config_of({"a", "b"}, 2));
  EXPECT_EQ(world.servers, at({"a", "b"}));
}

TEST_F(Following, LostReadIsRepeated) {
  World world(following());
  world.accept();
  world.take_request();
  world.lose();
  world.accept();
  answer_config(world, config_of({"a"}));
  EXPECT_EQ(world.servers, at({"a"}));
}

TEST_F(Following, UsersWatchOnTheConfigurationIsIndependent) {
  World world(following());
  world.accept();
  answer_config(world, config_of({"a"}));
  int events = 0;
  {
    const Watch watch([&](const drover::WatchEvent&) { ++events; });
    world.run(world.client->get("/zookeeper/config", watch));
    world.answer_next(OpCode::kGetData, World::node_bytes("x"));
  }
  world.driver->settle();
  EXPECT_EQ(world.sent, "") << "the watch on the server is not removed";
  world.hear(kConfigChanged);
  EXPECT_EQ(events, 0);
  answer_config(world, config_of({"b"}, 2));
}

TEST_F(Following, GivenServersAreTriedIfNoConfiguredOneCanBeReached) {
  World world(following());
  world.accept();
  answer_config(world, config_of({"hidden1", "hidden2"}));
  EXPECT_EQ(world.servers, at({"hidden1", "hidden2"}));
  world.lose();
  for (int dials = 0; dials < 4; ++dials) {
    world.pass(5000);
    ASSERT_TRUE(std::exchange(world.dialled, std::nullopt));
    EXPECT_EQ(world.servers.size(), 2u);
    world.driver->on_disconnected(world.now);
  }
  EXPECT_EQ(world.servers, at({"hidden1", "hidden2", "given"}));
  world.accept();
  EXPECT_EQ(world.states.back().state, ConnectionState::kConnected);
}

TEST_F(Following, CloseIsNotDisturbed) {
  World world(following());
  world.accept();
  const auto closed = world.run(world.client->close());
  answer_config(world, config_of({"a"}));
  world.answer_next(OpCode::kCloseSession);
  EXPECT_TRUE((*closed)->has_value());
}

TEST(SetServers, ReplacesTheListAndKeepsTheSession) {
  EngineOptions options;
  options.servers = at({"a"});
  World world(options, "/app");
  world.accept();
  EXPECT_TRUE(world.client->set_servers("b:2181,c"));
  world.driver->settle();
  EXPECT_EQ(world.servers, at({"b", "c"}));
  EXPECT_EQ(world.hang_ups, 1);
  world.accept();
  EXPECT_EQ(world.client->session(), kSession);
  world.run(world.client->get("/x"));
  EXPECT_EQ(world.take_request().body, path_watch_body("/app/x", false)) << "the chroot is kept";
}

TEST(SetServers, SameListChangesNothing) {
  EngineOptions options;
  options.servers = {{"A", 2181}, {"::1", 2182}};
  World world(options);
  world.accept();
  EXPECT_TRUE(world.client->set_servers("[0:0:0:0:0:0:0:1]:2182,a"));
  world.driver->settle();
  EXPECT_EQ(world.hang_ups, 0);
}

TEST(SetServers, BadTextIsRefused) {
  World world;
  EXPECT_EQ(world.client->set_servers("").error().code, Errc::kBadConfig);
  EXPECT_EQ(world.client->set_servers("a:x").error().code, Errc::kBadConfig);
  EXPECT_EQ(world.client->set_servers("a/other").error().code, Errc::kBadConfig);
}

}  // namespace
}  // namespace drover::client::testing
