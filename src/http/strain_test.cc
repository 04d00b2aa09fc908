// SPDX-License-Identifier: Apache-2.0
//
// The HTTP port under load: stuck handlers, and clients that hold slots and memory.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "http/server.h"
#include "server/http_testing.h"

namespace drover::server {
namespace {

// Handlers enter it and wait there.
class Door {
 public:
  ~Door() { open(); }
  void pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_for(int inside) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ >= inside; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool open_ = false;
};

class HttpPortUnderStrain : public ::testing::Test {
 protected:
  HttpPortUnderStrain() {
    const auto stuck = [this](const HttpRequest&) {
      door_.pass();
      return text_response(200, "at last");
    };
    const auto quick = [](const HttpRequest& r) { return text_response(200, r.path); };
    router_.get("/stuck", stuck);
    router_.get("/stuck-glance", stuck, HttpPace::kGlance);
    router_.get("/work", quick);
    router_.get("/glance", quick, HttpPace::kGlance);
    router_.get("/instant", quick, HttpPace::kInstant);
    router_.post("/echo", [](const HttpRequest& r) { return text_response(200, r.body); });
    options_.body_bytes_max = 100'000;
  }
  ~HttpPortUnderStrain() override { door_.open(); }
  int port() {
    if (!server_) server_ = *HttpServer::open(options_, router_);
    return server_->port();
  }
  std::unique_ptr<HttpTestClient> ask(const std::string& target) {
    auto client = std::make_unique<HttpTestClient>(port());
    client->send("GET " + target + " HTTP/1.1\r\n\r\n");
    return client;
  }
  int status_of(const std::string& target) { return HttpTestClient(port()).get(target).status; }

  Door door_;
  HttpServerOptions options_;
  HttpRouter router_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpPortUnderStrain, AnswersProbesWhileEveryOtherHandlerIsStuck) {
  std::vector<std::unique_ptr<HttpTestClient>> stuck;
  for (int i = 0; i < 2 * options_.threads; ++i) stuck.push_back(ask("/stuck"));
  door_.wait_for(options_.threads);
  EXPECT_EQ(status_of("/instant"), 200);
  EXPECT_EQ(status_of("/glance"), 200);
  stuck.push_back(ask("/stuck-glance"));
  door_.wait_for(options_.threads + 1);
  EXPECT_EQ(status_of("/instant"), 200) << "although nobody can look at the server any more";
  door_.open();
  for (const auto& client : stuck) EXPECT_EQ(client->read_answer().body, "at last");
}

// The guard may have to ask the server who the client is.
TEST_F(HttpPortUnderStrain, AnswersProbesWhileTheGuardIsStuck) {
  options_.guard = [this](const HttpRequest& r) -> std::optional<HttpResponse> {
    if (r.path == "/work") door_.pass();
    return std::nullopt;
  };
  const auto first = ask("/work");
  const auto second = ask("/work");
  door_.wait_for(2);
  EXPECT_EQ(status_of("/instant"), 200);
}

TEST_F(HttpPortUnderStrain, ANewConnectionReplacesTheLongestIdleOne) {
  options_.connections_max = 3;
  HttpTestClient idle(port());
  EXPECT_EQ(idle.get("/work").status, 200);
  HttpTestClient slow(port());
  slow.send("POST /echo HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(slow.read_answer().status, 100);
  HttpTestClient third(port());
  EXPECT_EQ(third.get("/work").status, 200);
  HttpTestClient accepted(port());
  EXPECT_EQ(accepted.get("/instant").status, 200);
  EXPECT_EQ(idle.read_rest(), "") << "it has waited for the longest time";
  slow.send("abc");
  EXPECT_EQ(slow.read_answer().body, "abc") << "its turn to leave has not come";
}

TEST_F(HttpPortUnderStrain, KeepsConnectionsWithARequestInProgress) {
  options_.connections_max = 2;
  const auto first = ask("/stuck");
  const auto second = ask("/stuck");
  door_.wait_for(2);
  EXPECT_EQ(status_of("/instant"), 0);
  door_.open();
  EXPECT_EQ(first->read_answer().status, 200);
  EXPECT_EQ(status_of("/instant"), 200);
}

// Each body is below its own limit, but together they exceed the total limit.
TEST_F(HttpPortUnderStrain, LimitsTheSumOfAllBodies) {
  options_.bodies_bytes_max = 150'000;
  const std::string large(90'000, 'x');
  std::unique_ptr<HttpTestClient> holds;
  int status = 0;
  // The server decides which one is first; each attempt is a new connection.
  for (int i = 0; i < 10'000 && status != 503; ++i) {
    if (!holds || holds->hears_within(0)) {
      holds = std::make_unique<HttpTestClient>(port());
      holds->send("POST /echo HTTP/1.1\r\nContent-Length: 90001\r\n\r\n" + large);
    }
    status = HttpTestClient(port()).post("/echo", large).status;
  }
  EXPECT_EQ(status, 503);
  EXPECT_EQ(HttpTestClient(port()).post("/echo", "small").status, 200);
  holds->send("y");
  EXPECT_EQ(holds->read_answer().status, 200) << "who was first is not cut";
  EXPECT_EQ(HttpTestClient(port()).post("/echo", large).status, 200) << "what was held is free again";
}

TEST_F(HttpPortUnderStrain, HasOneTimeoutForHeaderAndBody) {
  options_.idle_timeout_ms = 1000;
  HttpTestClient client(port());
  const auto begun = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun)
        .count();
  };
  client.send("POST /echo HTTP/1.1\r\nContent-Length: 50000\r\nX: ");
  while (passed() < 800 && !client.hears_within(10)) client.send("x");
  client.send("\r\n\r\n");
  while (passed() < 5000 && !client.hears_within(10)) client.send("x");
  EXPECT_LT(passed(), 1700);
  EXPECT_EQ(client.read_answer().status, 0);
}

}  // namespace
}  // namespace drover::server
