// SPDX-License-Identifier: Apache-2.0
#include "drover/testing.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace drover::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Wait soon() { return Wait::within(seconds(20)); }

Client client_of(const std::string& servers) {
  return unwrap(sync_wait(Client::connect({.servers = servers, .session_timeout = seconds(10)}, soon())));
}

TEST(TestingServer, ServesAndKeepsItsDataThroughARestart) {
  Server server = unwrap(Server::start());
  const std::string before = server.connect_string();
  const Client client = client_of(before);
  unwrap(sync_wait(client.create("/kept", "yes", {}, soon())));
  server.stop();
  EXPECT_FALSE(server.is_running());
  unwrap(server.restart());
  EXPECT_EQ(server.connect_string(), before);
  EXPECT_EQ(unwrap(sync_wait(client.get("/kept", soon()))).data, "yes");
}

TEST(TestingServer, ReportsAnInvalidConfiguration) {
  const auto server = Server::start({.config = {"tickTime=never"}});
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().detail.find("tickTime"), std::string::npos) << server.error().detail;
}

TEST(TestingServer, RemovesItsDirectoryUnlessItWasGiven) {
  namespace fs = std::filesystem;
  std::string pattern = fs::temp_directory_path() / "drover-place-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path place = pattern;
  ASSERT_EQ(setenv("TMPDIR", place.c_str(), 1), 0);
  {
    const Server server = unwrap(Server::start());
    EXPECT_FALSE(fs::is_empty(place));
  }
  EXPECT_TRUE(fs::is_empty(place));
  {
    const Server server = unwrap(Server::start({.directory = place / "named"}));
  }
  EXPECT_TRUE(fs::exists(place / "named" / "data"));
  unsetenv("TMPDIR");
  fs::remove_all(place);
}

TEST(TestingCluster, SurvivesTheLossOfItsLeader) {
  Cluster cluster = unwrap(Cluster::start(3));
  const Client client = client_of(cluster.connect_string());
  unwrap(sync_wait(client.create("/kept", "yes", {}, soon())));
  const std::size_t first = unwrap(cluster.wait_for_leader());
  cluster.stop(first);
  EXPECT_NE(unwrap(cluster.wait_for_leader()), first);
  EXPECT_EQ(unwrap(sync_wait(client.get("/kept", soon()))).data, "yes");
  unwrap(cluster.restart(first));
  const Client there = client_of(cluster.connect_string(first));
  unwrap(sync_wait(there.sync("/", soon())));
  EXPECT_EQ(unwrap(sync_wait(there.get("/kept", soon()))).data, "yes");
}

TEST(KillSession, EndsTheSessionOnAllServers) {
  const Server server = unwrap(Server::start());
  const Client client = client_of(server.connect_string());
  unwrap(sync_wait(client.create("/mine", "", {.mode = CreateMode::kEphemeral}, soon())));
  const Client bound = client.bound();
  unwrap(kill_session(client, server.connect_string()));
  const Client other = client_of(server.connect_string());
  EXPECT_FALSE(unwrap(sync_wait(other.exists("/mine", soon()))));
  EXPECT_EQ(sync_wait(bound.exists("/", soon())).error(), Errc::kSessionExpired);
  EXPECT_TRUE(sync_wait(client.exists("/", soon())));  // in the new session
}

TEST(Proxy, LosesTheReplyToAnAppliedRequest) {
  const Server server = unwrap(Server::start());
  Proxy proxy = unwrap(Proxy::start(server.connect_string()));
  const Client client = client_of(proxy.connect_string());
  proxy.lose_reply("create", 2);
  EXPECT_TRUE(sync_wait(client.create("/first", "", {}, soon())));
  const auto lost = sync_wait(client.create("/second", "", {}, soon()));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error(), Errc::kConnectionLoss);
  EXPECT_TRUE(lost.error().maybe_applied());
  EXPECT_TRUE(unwrap(sync_wait(client.exists("/second", soon()))));
  EXPECT_EQ(proxy.requests("create"), 2u);
}

TEST(Proxy, LosesARequestBeforeItIsApplied) {
  const Server server = unwrap(Server::start());
  Proxy proxy = unwrap(Proxy::start(server.connect_string()));
  const Client client = client_of(proxy.connect_string());
  proxy.lose_request("create");
  EXPECT_FALSE(sync_wait(client.create("/never", "", {}, soon())));
  EXPECT_FALSE(unwrap(sync_wait(client.exists("/never", soon()))));
  EXPECT_EQ(proxy.requests("create"), 0u);
}

TEST(Proxy, CutsAndHeals) {
  const Server server = unwrap(Server::start());
  Proxy proxy = unwrap(Proxy::start(server.connect_string()));
  const Client client = client_of(proxy.connect_string());
  proxy.cut();
  EXPECT_EQ(sync_wait(client.exists("/", Wait::within(milliseconds(200)))).error(), Errc::kDeadline);
  EXPECT_EQ(proxy.connections(), 0u);
  proxy.heal();
  EXPECT_TRUE(sync_wait(client.exists("/", soon())));
  proxy.freeze();
  EXPECT_EQ(sync_wait(client.exists("/", Wait::within(milliseconds(200)))).error(), Errc::kDeadline);
  EXPECT_EQ(proxy.connections(), 1u);
  proxy.heal();
  EXPECT_TRUE(sync_wait(client.exists("/", soon())));
  proxy.disconnect();
  EXPECT_TRUE(sync_wait(client.exists("/", soon())));
}

TEST(Proxy, PassesDataLargerThanAllBuffers) {
  const Server server = unwrap(Server::start());
  Proxy proxy = unwrap(Proxy::start(server.connect_string()));
  const Client client = client_of(proxy.connect_string());
  const std::string large(900'000, 'x');
  unwrap(sync_wait(client.create("/large", large, {}, soon())));
  std::vector<Task<Result<NodeData>>> reads;
  for (int i = 0; i < 20; ++i) reads.push_back(client.get("/large", soon()));
  for (auto& each : sync_wait(when_all(std::move(reads)))) EXPECT_EQ(unwrap(std::move(each)).data, large);
}

TEST(Proxy, RequiresOneNumericAddress) {
  for (const char* server :
       {"", "127.0.0.1", "localhost:2181", "127.0.0.1:0", "127.0.0.1:x", "127.0.0.1:70000"})
    EXPECT_EQ(Proxy::start(server).error(), Errc::kBadArguments) << server;
}

}  // namespace
}  // namespace drover::testing
