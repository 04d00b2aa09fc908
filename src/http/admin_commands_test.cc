// SPDX-License-Identifier: Apache-2.0
//
// The text of the AdminServer's answers. tests/http compares them with Java's, command by command.
#include "http/admin_commands.h"
#include "zab/membership_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string answer(std::string_view name, const Facts& facts, const ServerConfig& config = {}) {
  return answer_of(*find_admin_command(name),
                   {.facts = facts, .config = config, .members = config.ensemble.members});
}

TEST(AdminCommands, AreFoundByNameAndByAlias) {
  for (const AdminCommand& command : admin_commands())
    EXPECT_EQ(find_admin_command(command.name), &command) << command.name;
  EXPECT_EQ(find_admin_command("config"), find_admin_command("configuration"));
  EXPECT_EQ(find_admin_command("mntr"), find_admin_command("monitor"));
  for (const char* unknown : {"", " ", "conf config", "Ruok", "stats/"}) {
    EXPECT_EQ(find_admin_command(unknown), nullptr) << unknown;
  }
}

TEST(AdminCommands, OnlyTheseCommandsChangeSomething) {
  std::string changing;
  for (const AdminCommand& command : admin_commands()) {
    if (command.changes_state) changing += std::string(command.name) + " ";
  }
  EXPECT_EQ(
      changing,
      "connection_stat_reset observer_connection_stat_reset restore set_trace_mask shed_connections snapshot "
      "stat_reset ");
}

TEST(AdminText, EndsWithTheCommandAndItsError) {
  EXPECT_EQ(answer("ruok", {}), "{\n  \"command\" : \"ruok\",\n  \"error\" : null\n}");
  EXPECT_EQ(bare_answer("x", "Unknown command: x"),
            "{\n  \"command\" : \"x\",\n  \"error\" : \"Unknown command: x\"\n}");
}

TEST(AdminText, OfACommandThatNeedsALeaderShowsTheErrorFirst) {
  EXPECT_EQ(answer("lead", {}),
            "{\n  \"error\" : \"server is not initialized\",\n  \"command\" : \"leader\"\n}");
}

TEST(AdminText, ShowsConnectionsByTheirPort) {
  Facts facts;
  facts.connections.resize(2);
  facts.connections[0].remote = "127.0.0.1:1";
  facts.connections[0].session = SessionId{-5};
  facts.connections[1].remote = "127.0.0.1:2";
  facts.connections[1].secure = true;
  const std::string text = answer("cons", facts);
  EXPECT_THAT(text,
              StartsWith("{\n  \"connections\" : [ {\n    \"remote_socket_address\" : \"127.0.0.1:1\",\n"));
  EXPECT_THAT(text, HasSubstr("\"session_id\" : -5,"));
  EXPECT_THAT(
      text,
      HasSubstr("  } ],\n  \"secure_connections\" : [ {\n    \"remote_socket_address\" : \"127.0.0.1:2\""));
}

TEST(AdminText, ShowsMetricsWithoutPrefix) {
  Facts facts;
  facts.version = "3.9";
  facts.metrics = {{"znode_count", 5}, {"fsynctime", Extremes{.count = 2, .sum = 3, .min = 1, .max = 2}}};
  EXPECT_EQ(answer("mntr", facts), R"({
  "version" : "3.9",
  "server_state" : "standalone",
  "znode_count" : 5,
  "avg_fsynctime" : 1.5,
  "min_fsynctime" : 1,
  "max_fsynctime" : 2,
  "cnt_fsynctime" : 2,
  "sum_fsynctime" : 3,
  "command" : "monitor",
  "error" : null
})");
}

TEST(AdminText, EscapesTextFromClients) {
  Facts facts;
  facts.ephemerals = {{SessionId{7}, {"/<script>\"\n"}}};
  EXPECT_THAT(answer("dump", facts), HasSubstr(R"("7" : [ "/<script>\"\n" ])"));
}

TEST(AdminText, OfAMemberShowsItsRole) {
  ServerConfig config;
  config.ensemble.my_id = ServerId{1};
  for (const std::int64_t id : {1, 2}) {
    config.ensemble.members.add(
        *zab::parse_server_spec(ServerId{id}, "127.0.0.1:2888:3888:participant;127.0.0.1:2181"));
  }
  Facts facts;
  facts.mode = ServerMode::kFollower;
  facts.last_zxid = Zxid{0x3'0000'0010};
  facts.ensemble =
      EnsembleFacts{.leader = ServerId{2}, .zab_state = "broadcast", .votes = true, .observers = {}};
  EXPECT_THAT(answer("zabstate", facts, config), HasSubstr(R"(  "last_zxid" : "0x300000010",
  "zab_epoch" : 3,
  "zab_counter" : 16,
  "zabstate" : "broadcast",)"));
  EXPECT_THAT(answer("leader", facts, config), StartsWith(R"({
  "is_leader" : false,
  "leader_id" : 2,
  "leader_ip" : "127.0.0.1",)"));
  EXPECT_THAT(answer("voting_view", facts, config), HasSubstr(R"("2" : {
      "server_addresses" : [ "127.0.0.1:2888" ],
      "election_addresses" : [ "127.0.0.1:3888" ],
      "client_address" : "127.0.0.1:2181",
      "learner_type" : "participant"
    })"));
}

TEST(AdminPage, LinksToEveryCommand) {
  const std::string page = command_links("/commands");
  EXPECT_THAT(page, StartsWith("<a href=\"/commands/configuration\">configuration</a>\n<br/>\n"));
  EXPECT_THAT(page, HasSubstr("<a href=\"/commands/zabstate\">zabstate</a>\n<br/>\n"));
}

}  // namespace
}  // namespace drover::server
