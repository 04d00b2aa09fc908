// SPDX-License-Identifier: Apache-2.0
//
// Tests the HTTP port over a real socket: untrusted requests, and the responses of handlers.
#include "http/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "server/http_testing.h"

namespace drover::server {
namespace {

// Counts to `pieces`, with one pause in the middle.
class Pieces : public BodySource {
 public:
  Pieces(int pieces, bool fails) : pieces_(pieces), fails_(fails) {}
  State next(std::string& piece) override {
    if (fails_ && sent_ == 2) return State::kFailed;
    piece = std::string(10'000, static_cast<char>('a' + sent_ % 26));
    ++sent_;
    if (sent_ == pieces_) return State::kEnd;
    return sent_ == pieces_ / 2 ? State::kLater : State::kMore;
  }
  std::chrono::milliseconds pause() const override { return std::chrono::milliseconds(1); }

 private:
  int pieces_;
  bool fails_;
  int sent_ = 0;
};

class Counter : public BodySink {
 public:
  bool write(std::string_view piece) override {
    bytes_ += piece.size();
    return bytes_ < 5'000'000;
  }
  HttpResponse finish() override {
    return text_response(bytes_ < 5'000'000 ? 200 : 413, std::to_string(bytes_));
  }

 private:
  std::size_t bytes_ = 0;
};

class HttpPort : public ::testing::Test {
 protected:
  HttpPort() {
    router_.get("/hello", [](const HttpRequest& r) {
      return text_response(200, "hello " + std::string(r.parameter("name", "nobody")) + " " + r.ip);
    });
    router_.post("/echo", [](const HttpRequest& r) { return text_response(200, r.body); });
    router_.get("/throws", [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("no"); });
    router_.get("/pieces", [](const HttpRequest& r) {
      HttpResponse response;
      response.source = std::make_unique<Pieces>(10, r.query.contains("fail"));
      return response;
    });
    router_.upload("/upload", [](const HttpRequest& r) -> UploadStart {
      if (r.header("authorization").empty()) return text_response(401, "who?");
      return std::make_unique<Counter>();
    });
    options_.body_bytes_max = 100'000;
  }
  int port() {
    if (!server_) {
      auto opened = HttpServer::open(options_, router_);
      EXPECT_TRUE(opened);
      server_ = *std::move(opened);
    }
    return server_->port();
  }
  HttpServerOptions options_;
  HttpRouter router_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpPort, XForwardedForNamesTheClientOnlyIfItIsTrusted) {
  const std::string header = "X-Forwarded-For: 10.1.2.3, 10.9.9.9\r\n";
  EXPECT_EQ(HttpTestClient(port()).get("/hello", header).body, "hello nobody 127.0.0.1");
  server_.reset();
  options_.use_forwarded_for = true;
  EXPECT_EQ(HttpTestClient(port()).get("/hello", header).body, "hello nobody 10.1.2.3");
  EXPECT_EQ(HttpTestClient(port()).get("/hello").body, "hello nobody 127.0.0.1");
}

TEST_F(HttpPort, AnswersSeveralRequestsOnOneConnection) {
  HttpTestClient client(port());
  EXPECT_EQ(client.get("/hello?name=Ann+B").body, "hello Ann B 127.0.0.1");
  EXPECT_EQ(client.get("/hello").body, "hello nobody 127.0.0.1");
  EXPECT_EQ(client.post("/echo", "some text").body, "some text");
}

TEST_F(HttpPort, AnswersPipelinedRequestsInOrder) {
  HttpTestClient client(port());
  client.send(
      "GET /hello?name=1 HTTP/1.1\r\n\r\nGET /nowhere HTTP/1.1\r\n\r\nGET /hello?name=3 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.read_answer().body, "hello 1 127.0.0.1");
  EXPECT_EQ(client.read_answer().status, 404);
  EXPECT_EQ(client.read_answer().body, "hello 3 127.0.0.1");
}

TEST_F(HttpPort, ListsTheAllowedMethodsOfAPath) {
  HttpTestClient client(port());
  const HttpAnswer answer = client.get("/echo");
  EXPECT_EQ(answer.status, 405);
  EXPECT_NE(answer.head.find("Allow: POST"), std::string::npos) << answer.head;
}

TEST_F(HttpPort, SendsNoBodyForHead) {
  HttpTestClient client(port());
  client.send("HEAD /hello HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string all = client.read_rest();
  EXPECT_NE(all.find("Content-Length: 22\r\n"), std::string::npos) << all;
  EXPECT_TRUE(all.ends_with("\r\n\r\n")) << all;
}

TEST_F(HttpPort, ClosesTheConnectionOnRequest) {
  HttpTestClient client(port());
  client.send("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(client.read_rest().ends_with("hello nobody 127.0.0.1"));
}

TEST_F(HttpPort, RefusesInputThatIsNotHttp) {
  for (const char* wrong : {"\x16\x03\x01 tls?\r\n\r\n", "srvr\r\n\r\n", "GET /%zz HTTP/1.1\r\n\r\n",
                            "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"}) {
    HttpTestClient client(port());
    client.send(wrong);
    EXPECT_EQ(client.read_answer().status, 400) << wrong;
    EXPECT_EQ(client.read_rest(), "");
  }
}

TEST_F(HttpPort, RefusesUnknownMethods) {
  HttpTestClient client(port());
  client.send("TRACE /hello HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 405);
}

TEST_F(HttpPort, RefusesALargeHeader) {
  HttpTestClient client(port());
  client.send("GET /hello HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 431);
}

TEST_F(HttpPort, RefusesALargeBodyWithAndWithoutALength) {
  HttpTestClient announced(port());
  EXPECT_EQ(announced.post("/echo", std::string(100'001, 'x')).status, 413);
  HttpTestClient chunked(port());
  chunked.send("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n30d41\r\n" +
               std::string(0x30d41, 'x'));
  EXPECT_EQ(chunked.read_answer().status, 413);
}

TEST_F(HttpPort, ReadsABodyOfTinyChunks) {
  std::string request = "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 20'000; ++i) request += "1\r\nx\r\n";
  HttpTestClient client(port());
  client.send(request + "0\r\n\r\n");
  EXPECT_EQ(client.read_answer().body, std::string(20'000, 'x'));
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST_F(HttpPort, AnswersExpectContinue) {
  HttpTestClient client(port());
  client.send("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 100);
  client.send("abc");
  EXPECT_EQ(client.read_answer().body, "abc");
}

TEST_F(HttpPort, StreamsABodyInChunks) {
  HttpTestClient client(port());
  const HttpAnswer answer = client.get("/pieces");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.size(), 100'000U);
  EXPECT_TRUE(answer.body.ends_with("jjj"));
  EXPECT_EQ(client.get("/hello").status, 200);
}

TEST_F(HttpPort, StreamsToAnOldClientUntilTheConnectionEnds) {
  HttpTestClient client(port());
  client.send("GET /pieces HTTP/1.0\r\n\r\n");
  const std::string all = client.read_rest();
  EXPECT_EQ(all.size() - all.find("\r\n\r\n") - 4, 100'000U);
}

TEST_F(HttpPort, CutsTheConnectionWhenABodyFails) {
  HttpTestClient client(port());
  EXPECT_EQ(client.get("/pieces?fail").status, 0);  // the last chunk is missing
}

TEST_F(HttpPort, PassesAnUploadToItsSinkPieceByPiece) {
  HttpTestClient client(port());
  EXPECT_EQ(client.post("/upload", std::string(3'000'000, 'x'), "Authorization: a b\r\n").body, "3000000");
  EXPECT_EQ(client.post("/upload", "", "Authorization: a b\r\n").body, "0");
}

TEST_F(HttpPort, RefusesAnUploadBeforeAndWhileItIsRead) {
  HttpTestClient unknown(port());
  EXPECT_EQ(unknown.post("/upload", std::string(1'000'000, 'x')).status, 401);
  HttpTestClient large(port());
  EXPECT_EQ(large.post("/upload", std::string(6'000'000, 'x'), "Authorization: a b\r\n").status, 413);
}

TEST_F(HttpPort, SurvivesAHandlerThatThrows) {
  HttpTestClient client(port());
  EXPECT_EQ(client.get("/throws").status, 500);
  EXPECT_EQ(client.get("/hello").status, 200);
}

class Thrower : public BodySink, public BodySource {
 public:
  bool write(std::string_view) override { throw std::runtime_error("no room"); }
  HttpResponse finish() override { return text_response(200, ""); }
  State next(std::string&) override { throw std::runtime_error("nothing there"); }
  std::chrono::milliseconds pause() const override { return std::chrono::milliseconds(1); }
};

TEST_F(HttpPort, SurvivesSinksAndSourcesThatThrow) {
  router_.upload("/sink", [](const HttpRequest&) -> UploadStart { return std::make_unique<Thrower>(); });
  router_.get("/source", [](const HttpRequest&) {
    HttpResponse response;
    response.source = std::make_unique<Thrower>();
    return response;
  });
  for (int i = 0; i < 5; ++i) {  // more often than there are threads
    EXPECT_EQ(HttpTestClient(port()).post("/sink", "body").status, 0);
    EXPECT_EQ(HttpTestClient(port()).get("/source").body, "");
  }
  EXPECT_EQ(HttpTestClient(port()).get("/hello").status, 200);
}

TEST_F(HttpPort, CallsTheGuardBeforeItReadsTheBody) {
  options_.guard = [](const HttpRequest& r) -> std::optional<HttpResponse> {
    if (r.path == "/echo") return text_response(401, "who?");
    return std::nullopt;
  };
  HttpTestClient client(port());
  client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 401);
  EXPECT_EQ(HttpTestClient(port()).get("/hello").status, 200);
}

TEST_F(HttpPort, HasOneTimeoutForAWholeBody) {
  options_.idle_timeout_ms = 300;
  HttpTestClient client(port());
  client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000\r\n\r\n");
  int sent = 0;
  for (; sent < 500 && !client.hears_within(10); ++sent) client.send("x");
  EXPECT_LT(sent, 500) << "it was cut while it still sent";
  EXPECT_EQ(client.read_answer().status, 0);
}

TEST_F(HttpPort, ClosesAnIdleConnection) {
  options_.idle_timeout_ms = 50;
  HttpTestClient client(port());
  EXPECT_EQ(client.read_rest(), "");
  HttpTestClient halfway(port());
  halfway.send("GET /hello HTTP/1.1\r\n");
  EXPECT_EQ(halfway.read_rest(), "");
}

TEST_F(HttpPort, StopsWhileConnectionsAreOpen) {
  HttpTestClient idle(port());
  EXPECT_EQ(idle.get("/hello").status, 200);
  HttpTestClient halfway(port());
  halfway.send("GET /pie");
  server_.reset();
  EXPECT_EQ(idle.read_rest(), "");
}

TEST_F(HttpPort, ReportsAPortInUse) {
  HttpServerOptions same = options_;
  same.port = static_cast<std::uint16_t>(port());
  const auto second = HttpServer::open(same, router_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EADDRINUSE);
}

}  // namespace
}  // namespace drover::server
