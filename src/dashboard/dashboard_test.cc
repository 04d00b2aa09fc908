// SPDX-License-Identifier: Apache-2.0
//
// Tests the dashboard's API of a whole server. tests/dashboard tests it in a browser.
#include "dashboard/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "server/http_testing.h"
#include "server/server.h"
#include "state/acl.h"
#include "wire/replies.h"
#include "wire/requests.h"

namespace drover::server {
namespace {

// The clients do not ping, and hundreds of them take long under a sanitizer.
constexpr int kSessionMs = 3'600'000;

using ::testing::HasSubstr;
using ::testing::Not;

// A client that creates nodes, over the client port.
class Creator {
 public:
  explicit Creator(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    std::string hello;
    {
      wire::Frame frame(hello);
      wire::Writer w(hello);
      wire::encode(w, wire::ConnectRequest{.timeout_ms = kSessionMs, .password = {}, .has_read_only = true});
    }
    const std::string answer = exchange(hello);
    session_ = wire::decode_connect_response(answer)->session;
  }
  ~Creator() { ::close(fd_); }
  Creator(const Creator&) = delete;
  Creator& operator=(const Creator&) = delete;

  void create(std::string_view path, std::string_view data, std::int32_t flags = wire::kPersistent,
              std::vector<wire::Acl> acl = {{wire::kAll, {"world", "anyone"}}}) {
    std::string bytes;
    {
      wire::Frame frame(bytes);
      wire::Writer w(bytes);
      w.i32(++xid_);
      w.i32(static_cast<std::int32_t>(wire::OpCode::kCreate));
      w.string(path);
      w.string(data);
      wire::encode_acl_list(w, acl);
      w.i32(flags);
    }
    const std::string answer = exchange(bytes);
    wire::Reader r(answer);
    EXPECT_EQ(wire::decode_reply_header(r).error, ErrorCode::kOk) << path;
  }
  SessionId session() const { return session_; }

 private:
  std::string exchange(std::string_view bytes) {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    char length[4];
    EXPECT_EQ(recv(fd_, length, 4, MSG_WAITALL), 4);
    std::string answer(static_cast<std::size_t>(wire::load_be<std::int32_t>(length)), '\0');
    EXPECT_EQ(recv(fd_, answer.data(), answer.size(), MSG_WAITALL), static_cast<ssize_t>(answer.size()));
    return answer;
  }

  int fd_;
  std::int32_t xid_ = 0;
  SessionId session_{};
};

class TheDashboard : public ::testing::Test {
 protected:
  TheDashboard() {
    config_.storage.force_sync = false;  // some tests create thousands of nodes, one after the other
    config_.max_session_timeout_ms = kSessionMs;
  }

  Server& server() { return server_.get(); }
  // The default host is what a browser on this machine sends.
  HttpAnswer ask(const std::string& line, const std::string& headers = {}, const std::string& body = {},
                 const std::string& host = "127.0.0.1") {
    HttpTestClient client(server().http_port());
    client.send(line + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n" + headers + "\r\n" + body);
    return client.read_answer();
  }
  json::object get(const std::string& target, const std::string& headers = {}) {
    return json::parse(ask("GET " + target, headers).body).as_object();
  }

  HttpTestServer server_;
  ServerConfig& config_ = server_.config;
};

TEST_F(TheDashboard, UsersWhoLogInWithAPasswordAreThemselves) {
  config_.sasl.login.emplace();
  config_.sasl.login->users.emplace("bob", Secret("bobsecret"));
  config_.sasl.provider = true;
  config_.admin.dashboard_edit = true;
  const std::string bob = "Authorization: sasl bob:bobsecret\r\n";
  Creator creator(server().client_port());
  creator.create("/bobs", "1", wire::kPersistent, {{wire::kAll, {"sasl", "bob"}}});

  EXPECT_EQ(ask("GET /api/whoami", "Authorization: sasl bob:wrong\r\n").status, 401);
  EXPECT_EQ(ask("GET /api/whoami", "Authorization: sasl bob\r\n").status, 401);
  EXPECT_THAT(ask("GET /api/whoami", bob).body, HasSubstr("{\"scheme\":\"sasl\",\"id\":\"bob\"}"));
  EXPECT_EQ(ask("GET /api/node?path=/bobs").status, 403);
  EXPECT_EQ(ask("GET /api/node?path=/bobs", bob).status, 200);

  const std::string change = R"({"path": "/bobs", "data": "Mg==", "version": 0})";
  const std::string headers = "X-Drover-Request: 1\r\nContent-Type: application/json\r\n";
  EXPECT_EQ(ask("PUT /api/node", headers + bob, change).status, 200);
  EXPECT_EQ(ask("PUT /api/node", headers + "Authorization: sasl bob:wrong\r\n", change).status, 401);
}

TEST_F(TheDashboard, ServesItsPageWithASecurityPolicyAndCaching) {
  const HttpAnswer page = ask("GET /");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("<title>Drover</title>"));
  EXPECT_THAT(page.head, HasSubstr("Content-Security-Policy: default-src 'self'"));
  const std::size_t at = page.head.find("ETag: ") + 6;
  const std::string etag = page.head.substr(at, page.head.find('\r', at) - at);
  const HttpAnswer again = ask("GET /", "If-None-Match: " + etag + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_THAT(ask("GET /app.js").head, HasSubstr("text/javascript"));
}

TEST_F(TheDashboard, ShowsANodeAndItsChildrenInOrder) {
  Creator client(server().client_port());
  client.create("/d", "hello");
  for (const char* name : {"/d/c", "/d/a", "/d/b", "/d/e"}) client.create(name, "");
  const json::object node = get("/api/node?path=/d");
  EXPECT_EQ(node.at("data"), "aGVsbG8=");
  EXPECT_EQ(node.at("stat").at("numChildren"), 4);
  EXPECT_EQ(node.at("edit"), false);

  const auto names = [&](const std::string& query) {
    std::string out;
    const json::object page = get("/api/children?path=/d" + query);
    for (const json::value& child : page.at("children").as_array())
      out += std::string_view(child.at("name").as_string());
    return out + (page.at("more").as_bool() ? "+" : "");
  };
  EXPECT_EQ(names("&limit=2"), "ab+");
  EXPECT_EQ(names("&limit=2&after=b"), "ce");
  EXPECT_EQ(names("&from=b"), "bce");
  EXPECT_EQ(names("&limit=4"), "abce");
  EXPECT_EQ(ask("GET /api/node?path=/none").status, 404);
  EXPECT_EQ(ask("GET /api/children?path=none").status, 400);
}

TEST_F(TheDashboard, HidesNodesThatAnAclProtects) {
  Creator client(server().client_port());
  const std::string id = state::digest_identity("ops:secret");
  client.create("/secret", "x", wire::kPersistent, {{wire::kAll, {"digest", id}}});
  client.create("/here", "x", wire::kPersistent, {{wire::kRead, {"ip", "127.0.0.1"}}});
  const std::string ops = "Authorization: digest ops:secret\r\n";
  EXPECT_EQ(ask("GET /api/node?path=/secret").status, 403);
  EXPECT_EQ(ask("GET /api/children?path=/secret").status, 403);
  EXPECT_EQ(ask("GET /api/recipes?path=/secret").status, 403);
  EXPECT_EQ(ask("GET /api/node?path=/secret", ops).status, 200);
  EXPECT_EQ(ask("GET /api/node?path=/here").status, 200);
  EXPECT_EQ(ask("GET /api/node?path=/here", "Authorization: nonsense\r\n").status, 401);
  const json::object who = get("/api/whoami", ops);
  EXPECT_THAT(json::serialize(who), HasSubstr("{\"scheme\":\"digest\",\"id\":\"ops\"}"));
}

TEST_F(TheDashboard, ShowsTheOwnerOfALockAndItsAddress) {
  Creator client(server().client_port());
  client.create("/lock", "");
  client.create("/lock/_c_1-lock-", "me", wire::kEphemeralSequential);
  const json::object found = get("/api/recipes?path=/");
  ASSERT_EQ(found.at("recipes").as_array().size(), 1u);
  const json::value& lock = found.at("recipes").at(0);
  EXPECT_EQ(lock.at("kind"), "lock");
  const json::value& holder = lock.at("holders").at(0);
  EXPECT_EQ(holder.at("data"), "me");
  EXPECT_EQ(holder.at("session"), json::string(hex_text(client.session())));
  EXPECT_THAT(std::string(holder.at("remote").as_string()), HasSubstr("127.0.0.1:"));
  const json::object session = get("/api/session?id=" + hex_text(client.session()));
  EXPECT_EQ(session.at("ephemerals").at(0).at("path"), "/lock/_c_1-lock-0000000000");
  EXPECT_EQ(get("/api/sessions").at("total"), 1);
  EXPECT_EQ(ask("GET /api/session?id=0x1").status, 404);
}

TEST_F(TheDashboard, FindsTheLockOfEverySession) {
  config_.limits.connections_per_ip = 0;
  constexpr int kSessions = 700;
  std::vector<std::unique_ptr<Creator>> clients;
  const auto directory = [](int i) { return "/locks/" + std::to_string(10'000 + i); };
  for (int i = 0; i < kSessions; ++i) {
    clients.push_back(std::make_unique<Creator>(server().client_port()));
    if (i == 0) clients[0]->create("/locks", "");
    clients[static_cast<std::size_t>(i)]->create(directory(i), "");
    clients[static_cast<std::size_t>(i)]->create(directory(i) + "/_c_1-lock-", "",
                                                 wire::kEphemeralSequential);
  }
  const auto path_of = [&](const json::object& found, std::size_t i) {
    return std::string(found.at("recipes").at(i).at("path").as_string());
  };
  const json::object all = get("/api/recipes?path=/");
  ASSERT_EQ(all.at("recipes").as_array().size(), 200u);
  EXPECT_EQ(all.at("truncated"), true);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(path_of(all, static_cast<std::size_t>(i)), directory(i));
  for (int i = 0; i < kSessions; ++i) {
    const json::object one = get("/api/recipes?path=" + directory(i));
    ASSERT_EQ(one.at("recipes").as_array().size(), 1u) << directory(i);
    EXPECT_EQ(path_of(one, 0), directory(i));
    EXPECT_EQ(one.at("truncated"), false);
  }
}

TEST_F(TheDashboard, ShowsTheHolderOfALockWithVeryManyWaiters) {
  Creator client(server().client_port());
  client.create("/lock", "");
  for (int i = 0; i < 2'500; ++i) client.create("/lock/_c_1-lock-", "", wire::kEphemeralSequential);
  const json::object found = get("/api/recipes?path=/lock");
  EXPECT_EQ(found.at("truncated"), false);
  const json::value& lock = found.at("recipes").at(0);
  EXPECT_EQ(lock.at("holders").at(0).at("name"), "_c_1-lock-0000000000");
  EXPECT_EQ(lock.at("waiting").at(99).at("name"), "_c_1-lock-0000000100");
  EXPECT_EQ(lock.at("waiting").as_array().size(), 100u);
  EXPECT_EQ(lock.at("waiting_total"), 2'499);
}

TEST_F(TheDashboard, FindsTheLocksOfASessionThatHasThousands) {
  Creator client(server().client_port());
  client.create("/a", "");
  for (int i = 0; i < 3'000; ++i) client.create("/a/" + std::to_string(i), "", wire::kEphemeral);
  for (int i = 0; i < 40; ++i) {
    client.create("/lock" + std::to_string(i), "");
    client.create("/lock" + std::to_string(i) + "/_c_1-lock-", "", wire::kEphemeralSequential);
  }
  EXPECT_EQ(get("/api/recipes?path=/").at("recipes").as_array().size(), 41u);
}

TEST_F(TheDashboard, RefusesForeignHostNames) {
  config_.admin.dashboard_hosts = {"zk.example.net"};
  EXPECT_EQ(ask("GET /api/whoami", "", "", "evil.example:8080").status, 421);
  EXPECT_EQ(ask("GET /api/whoami", "", "", "localhost:8080").status, 200);
  EXPECT_EQ(ask("GET /api/whoami", "", "", "[::1]:8080").status, 200);
  EXPECT_EQ(ask("GET /api/whoami", "", "", "ZK.example.net").status, 200);
}

constexpr const char* kOurs = "X-Drover-Request: 1\r\nAuthorization: digest me:x\r\n";

TEST_F(TheDashboard, ChangesNothingUnlessEditingIsEnabled) {
  Creator client(server().client_port());
  client.create("/n", "x");
  EXPECT_EQ(ask("PUT /api/node", kOurs, R"({"path":"/n","data":"eQ==","version":0})").status, 403);
  EXPECT_EQ(ask("DELETE /api/node?path=/n&version=0", kOurs).status, 403);
  EXPECT_EQ(get("/api/node?path=/n").at("data"), "eA==");
}

TEST_F(TheDashboard, ChangesANodeOnlyAtTheVersionThatWasSeen) {
  config_.admin.dashboard_edit = true;
  Creator client(server().client_port());
  client.create("/n", "x");
  client.create("/read-only", "x", wire::kPersistent, {{wire::kRead, {"world", "anyone"}}});
  const auto put = [&](const std::string& headers, const std::string& path, int version) {
    return ask("PUT /api/node", headers,
               "{\"path\":\"" + path + "\",\"data\":\"eXk=\",\"version\":" + std::to_string(version) + "}")
        .status;
  };
  EXPECT_EQ(put("X-Drover-Request: 1\r\n", "/n", 0), 401);
  EXPECT_EQ(put("Authorization: digest me:x\r\n", "/n", 0), 403);
  EXPECT_EQ(put(std::string(kOurs) + "Origin: http://evil.example\r\n", "/n", 0), 403);
  EXPECT_EQ(put(kOurs, "/read-only", 0), 403);
  EXPECT_EQ(put(kOurs, "/n", 7), 409);
  EXPECT_EQ(put(std::string(kOurs) + "Origin: http://127.0.0.1\r\n", "/n", 0), 200);
  EXPECT_EQ(get("/api/node?path=/n").at("data"), "eXk=");
  EXPECT_EQ(ask("DELETE /api/node?path=/n&version=0", kOurs).status, 409);
  EXPECT_EQ(ask("DELETE /api/node?path=/n&version=1", kOurs).status, 200);
  EXPECT_EQ(ask("GET /api/node?path=/n").status, 404);
  EXPECT_EQ(get("/api/sessions").at("total"), 1) << "its own sessions are closed";
}

TEST_F(TheDashboard, SendsChangesAsTheyHappen) {
  Creator client(server().client_port());
  client.create("/n", "x");
  HttpTestClient stream(server().http_port());
  stream.send("GET /api/events?paths=/n%0A/other HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_THAT(stream.read_part("event: role"), HasSubstr("standalone"));
  client.create("/n/child", "");
  EXPECT_THAT(stream.read_part("event: node"), HasSubstr("{\"path\":\"/n\",\"exists\":true"));
  client.create("/other", "");
  EXPECT_THAT(stream.read_part("/other"), HasSubstr("\"exists\":true"));
}

TEST_F(TheDashboard, DescribesTheServerAndItsMetrics) {
  const json::object ensemble = get("/api/ensemble");
  EXPECT_EQ(ensemble.at("server").at("mode"), "standalone");
  EXPECT_EQ(ensemble.at("members").as_array().size(), 1u);
  const json::object metrics = get("/api/metrics");
  ASSERT_GE(metrics.at("samples").as_array().size(), 1u);
  EXPECT_EQ(metrics.at("samples").at(0).as_array().size(), metrics.at("columns").as_array().size());
}

}  // namespace
}  // namespace drover::server
