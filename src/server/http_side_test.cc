// SPDX-License-Identifier: Apache-2.0
//
// Tests a whole server over HTTP: probes, commands, authorization, metrics, snapshots.
#include "server/http_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "server/http_testing.h"
#include "server/server.h"
#include "state/acl.h"

namespace drover::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class HttpSideOfAServer : public ::testing::Test {
 protected:
  HttpSideOfAServer() { config_.auth.super_digest = Secret(state::digest_identity("super:admin")); }

  Server& server() { return server_.get(); }
  void stop() { server_.stop(); }
  HttpAnswer get(const std::string& target, const std::string& headers = {}) {
    return HttpTestClient(server().http_port()).get(target, headers);
  }
  HttpAnswer post(const std::string& target, const std::string& body, const std::string& headers = {}) {
    return HttpTestClient(server().http_port()).post(target, body, headers);
  }

  static constexpr const char* kSuper = "Authorization: digest super:admin\r\n";
  HttpTestServer server_;
  ServerConfig& config_ = server_.config;
  const std::string& directory_ = server_.directory();
};

TEST_F(HttpSideOfAServer, AnswersTheProbes) {
  EXPECT_EQ(get("/live").body, "{\"live\":true}\n");
  EXPECT_EQ(get("/ready").body, "{\"ready\":true,\"server_state\":\"standalone\",\"zxid\":\"0x0\"}\n");
  EXPECT_EQ(get("/leader").status, 200);
  EXPECT_EQ(get("/nothing").status, 404);
}

TEST_F(HttpSideOfAServer, RunsEveryReadOnlyCommand) {
  for (const AdminCommand& command : admin_commands()) {
    if (command.changes_state) continue;
    const HttpAnswer answer = get("/commands/" + std::string(command.name));
    EXPECT_EQ(answer.status, 200) << command.name;
    EXPECT_THAT(answer.head, HasSubstr("Content-Type: application/json\r\n"));
    EXPECT_THAT(answer.body, HasSubstr("\"command\" : \"" + std::string(command.name) + "\""));
  }
}

TEST_F(HttpSideOfAServer, ListsTheCommands) {
  EXPECT_THAT(get("/commands").body, StartsWith("<a href=\"/commands/configuration\">"));
  EXPECT_EQ(get("/commands/").body, get("/commands").body);
}

TEST_F(HttpSideOfAServer, UnknownCommandIsReportedInTheBody) {
  const HttpAnswer answer = get("/commands/%3Cscript%3E");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("\"error\" : \"Unknown command: <script>\""));
}

TEST_F(HttpSideOfAServer, ChangesNothingWithoutCredentials) {
  for (const char* name : {"srst", "crst", "orst", "stmk?traceMask=1", "snapshot"}) {
    const std::string path = std::string("/commands/") + name;
    EXPECT_EQ(get(path).status, 401) << name;
    EXPECT_EQ(get(path, "Authorization: digest\r\n").status, 401) << name;
    EXPECT_EQ(get(path, "Authorization: Basic c3VwZXI6YWRtaW4=\r\n").status, 401) << name;
  }
  EXPECT_EQ(post("/commands/shed_connections", "{\"percentage\":100}").status, 401);
  EXPECT_THAT(get("/commands/gtmk").body, HasSubstr("\"tracemask\" : 306"));
  EXPECT_THAT(get("/commands/stmk?traceMask=1").body, HasSubstr("Auth info is missing for the command"));
}

// Anyone can invent a digest user, and anyone may do everything on an open root: that proves nothing.
TEST_F(HttpSideOfAServer, AnInventedUserIsNotAuthorizedOnAnOpenRoot) {
  for (const char* invented : {"Authorization: digest a:b\r\n", "Authorization: ip x\r\n"}) {
    const HttpAnswer answer = get("/commands/snapshot", invented);
    EXPECT_EQ(answer.status, 403) << invented;
    EXPECT_THAT(answer.body, HasSubstr("Not authorized: every client may change the ACL of /"));
    EXPECT_THAT(answer.body, HasSubstr("superDigest"));
    EXPECT_EQ(post("/commands/restore", "x", invented).status, 403) << invented;
    EXPECT_EQ(get("/commands/srst", invented).status, 403) << invented;
  }
  EXPECT_EQ(get("/commands/srst", kSuper).status, 200);
}

TEST_F(HttpSideOfAServer, AnInventedUserIsNotAuthorizedWithSkipAcl) {
  config_.auth.skip_acl = true;
  EXPECT_EQ(get("/commands/snapshot", "Authorization: digest a:b\r\n").status, 403);
}

TEST_F(HttpSideOfAServer, SetsTheTraceMaskForAuthorizedUsers) {
  EXPECT_THAT(get("/commands/stmk?traceMask=12", kSuper).body, HasSubstr("\"tracemask\" : 12"));
  EXPECT_THAT(get("/commands/gtmk").body, HasSubstr("\"tracemask\" : 12"));
  EXPECT_THAT(get("/commands/stmk?traceMask=x", kSuper).body, HasSubstr("argument, got x"));
  EXPECT_THAT(get("/commands/stmk", kSuper).body, HasSubstr("requires long traceMask argument"));
}

TEST_F(HttpSideOfAServer, StreamsTheSnapshotFile) {
  const HttpAnswer answer = get("/commands/snapshot?streaming=true", kSuper);
  ASSERT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("last_zxid: 0x0\r\n"));
  EXPECT_THAT(answer.head, HasSubstr("snapshot_size: " + std::to_string(answer.body.size()) + "\r\n"));
  std::ifstream file(directory_ + "/version-2/snapshot.0", std::ios::binary);
  EXPECT_EQ(answer.body, std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_EQ(get("/commands/snap", kSuper).status, 429);
}

TEST_F(HttpSideOfAServer, TakesASnapshotWithoutSendingIt) {
  const HttpAnswer answer = get("/commands/snapshot?streaming=false", kSuper);
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("\"command\" : \"snapshot\""));
  EXPECT_THAT(answer.head, HasSubstr("last_zxid: 0x0\r\n"));
}

TEST_F(HttpSideOfAServer, TakesNoSnapshotIfItIsDisabled) {
  config_.admin.snapshot_enabled = false;
  EXPECT_EQ(get("/commands/snapshot", kSuper).status, 503);
}

TEST_F(HttpSideOfAServer, ExportsMetrics) {
  const HttpAnswer answer = get("/metrics");
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer.body, HasSubstr("\n# TYPE znode_count gauge\nznode_count 5\n"));
  EXPECT_THAT(answer.body, HasSubstr("\n# TYPE readlatency summary\nreadlatency{quantile=\"0.5\",} 0\n"));
}

TEST_F(HttpSideOfAServer, HasTheMetricsThatDashboardsRead) {
  const std::string text = get("/commands/monitor").body;
  for (const std::string name : {"ephemerals_count",
                                 "min_latency",
                                 "avg_latency",
                                 "max_latency",
                                 "num_alive_connections",
                                 "outstanding_requests",
                                 "packets_received",
                                 "packets_sent",
                                 "znode_count",
                                 "watch_count",
                                 "approximate_data_size",
                                 "open_file_descriptor_count",
                                 "max_file_descriptor_count",
                                 "global_sessions",
                                 "uptime",
                                 "avg_fsynctime",
                                 "p99_readlatency",
                                 "p999_updatelatency",
                                 "cnt_snapshottime",
                                 "connection_rejected",
                                 "stale_sessions_expired"})
    EXPECT_THAT(text, HasSubstr("\n  \"" + name + "\" : "));
}

TEST_F(HttpSideOfAServer, HasEachMetricOnce) {
  std::istringstream lines(get("/metrics").body);
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(names.insert(line).second) << line;
    }
  }
  EXPECT_GT(names.size(), 100U);
}

TEST_F(HttpSideOfAServer, ShedConnectionsNeedsAPercentage) {
  EXPECT_EQ(post("/commands/shed", "", kSuper).status, 400);
  EXPECT_EQ(post("/commands/shed", "{\"percentage\":101}", kSuper).status, 400);
  EXPECT_THAT(post("/commands/shed", "{\"percentage\":50}", kSuper).body,
              HasSubstr("\"connections_shed\" : 0"));
  EXPECT_EQ(get("/commands/shed", kSuper).status, 405);
}

// DNS rebinding: for a browser, a page with that host name would have our own origin.
TEST_F(HttpSideOfAServer, RefusesForeignHostHeaders) {
  const auto status = [&](const std::string& target, const std::string& host) {
    HttpTestClient client(server().http_port());
    client.send("GET " + target + " HTTP/1.1\r\n" + host + kSuper + "\r\n");
    return client.read_answer().status;
  };
  for (const char* target :
       {"/commands/snapshot", "/commands/configuration", "/commands", "/api/whoami", "/"})
    EXPECT_EQ(status(target, "Host: evil.example.com\r\n"), 421) << target;
  for (const char* target : {"/live", "/ready", "/leader", "/metrics"})
    EXPECT_EQ(status(target, "Host: zk.default.svc:8080\r\n"), 200) << target;
  for (const char* host : {"Host: 127.0.0.1:8080\r\n", "Host: [::1]:8080\r\n", "Host: LOCALHOST\r\n",
                           "Host: 10.1.2.3:8080\r\n", ""}) {
    EXPECT_EQ(status("/commands/ruok", host), 200) << host;
    EXPECT_EQ(status("/api/whoami", host), 200) << host;
  }
}

TEST_F(HttpSideOfAServer, RefusesARestoreWithAForeignHostHeader) {
  HttpTestClient client(server().http_port());
  client.send(std::string("POST /commands/restore HTTP/1.1\r\nHost: evil.example.com\r\n") + kSuper +
              "Content-Length: 1000000\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 421) << "before the body has come";
}

TEST_F(HttpSideOfAServer, UnauthorizedBodyIsNotRead) {
  const auto status = [&](const std::string& line) {
    HttpTestClient client(server().http_port());
    client.send(line + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
    return client.read_answer().status;
  };
  EXPECT_EQ(status("POST /commands/shed_connections"), 401);
  EXPECT_EQ(status("POST /commands/ruok"), 405);
  EXPECT_EQ(status("PUT /api/node?path=/a"), 403);
  EXPECT_EQ(status("GET /commands/ruok"), 413);
}

TEST_F(HttpSideOfAServer, AcceptsConfiguredHostNames) {
  config_.admin.dashboard_hosts = {"zk.example.net"};
  HttpTestClient client(server().http_port());
  client.send("GET /commands/ruok HTTP/1.1\r\nHost: zk.example.net:8080\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 200);
}

TEST_F(HttpSideOfAServer, IsAbsentIfDisabled) {
  config_.admin.enabled = false;
  EXPECT_EQ(server().http_port(), 0);
}

TEST_F(HttpSideOfAServer, PortInUseFailsTheStartOnlyIfItWasConfigured) {
  config_.admin.port = static_cast<std::uint16_t>(server().http_port());
  ServerConfig other = config_;
  other.data_dir = other.data_log_dir = directory_ + "/other";
  const auto failed = Server::start(other);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what, StartsWith("admin.serverPort: cannot listen on /127.0.0.1:"));
}

}  // namespace
}  // namespace drover::server
