// SPDX-License-Identifier: Apache-2.0
//
// How bytes flow through a TLS stream under a level-triggered loop: no byte gets stuck or lost.
#include <gtest/gtest.h>
#include <sys/epoll.h>

#include "net/event_loop.h"
#include "net/listener.h"
#include "net/tls_context.h"
#include "net/tls_test_support.h"

namespace drover::net {
namespace {

using testing::connected_pair;
using testing::ContextPtr;
using testing::Identity;
using testing::make_identity;
using testing::pem_of;
using testing::receive;
using testing::shake_hands;
using testing::StreamPair;
using testing::TempDir;
using testing::tls_pair;

struct Contexts {
  ContextPtr server;
  ContextPtr client;
};

Contexts contexts(const std::string& protocol = {}) {
  const TempDir dir;
  const Identity identity = make_identity({.common_name = "localhost"});
  const std::string certificate = pem_of(identity.certificate);
  const std::string key_store = dir.write("k.pem", certificate + pem_of(identity.key));
  const std::string trust_store = dir.write("t.pem", certificate);
  return {*TlsContext::load(
              {.key_store = {.location = key_store}, .protocol = protocol, .client_auth = ClientAuth::kNone}),
          *TlsContext::load({.role = TlsRole::kClient, .trust_store = {.location = trust_store}})};
}

StreamPair shaken_pair(const std::string& protocol = {}) {
  const Contexts made = contexts(protocol);
  StreamPair pair = tls_pair(made.server, made.client, {.host = "localhost"});
  EXPECT_TRUE(shake_hands(pair)) << pair.client.error_text();
  return pair;
}

TEST(TlsStream, CarriesBytesBothWays) {
  for (const char* protocol : {"TLSv1.2", "TLSv1.3"}) {
    StreamPair pair = shaken_pair(protocol);
    EXPECT_EQ(pair.client.write("ruok").bytes, 4u);
    EXPECT_EQ(receive(pair.server), "ruok");
    EXPECT_EQ(pair.server.write("imok").bytes, 4u);
    EXPECT_EQ(receive(pair.client), "imok");
    char byte;
    EXPECT_EQ(pair.server.read(&byte, 1).status, IoStatus::kAgain);
  }
}

TEST(TlsStream, ManyRecordsInOneSegmentAreReadWithoutAnotherEpollEvent) {
  StreamPair pair = shaken_pair();
  std::string sent;
  for (int i = 0; i < 50; ++i) {
    const std::string record = "record " + std::to_string(i) + ";";
    pair.client.write(record);
    sent += record;
  }
  // One read empties the kernel's buffer, and epoll would report nothing from here on.
  std::string got;
  char buffer[7];
  do {
    const IoCount count = pair.server.read(buffer, sizeof buffer);
    if (count.status == IoStatus::kOk) got.append(buffer, count.bytes);
  } while (pair.server.has_buffered());
  EXPECT_EQ(got, sent);
}

TEST(TlsStream, AnEndAfterTheLastBytesIsReportedWithoutAnotherEpollEvent) {
  const Contexts made = contexts();
  StreamPair pair = tls_pair(made.server, made.client, {.host = "localhost"});
  ASSERT_TRUE(shake_hands(pair));
  pair.client.write("bye");
  pair.client.shutdown();
  char buffer[100];
  EXPECT_EQ(pair.server.read(buffer, sizeof buffer).bytes, 3u);
  EXPECT_TRUE(pair.server.has_buffered());
  EXPECT_EQ(pair.server.read(buffer, sizeof buffer).status, IoStatus::kClosed);
  EXPECT_FALSE(pair.server.has_buffered());
}

TEST(TlsStream, HalfARecordIsNotBufferedData) {
  // The loop must wait for the rest, not spin. Forward the client's bytes by hand, except the last one.
  const Contexts made = contexts();
  StreamPair near = connected_pair();
  StreamPair far = connected_pair();
  Stream& client = near.client;
  Stream& server = far.server;
  ASSERT_TRUE(client.start_tls(made.client, {.host = "localhost"}));
  ASSERT_TRUE(server.start_tls(made.server, {}));
  const auto forward = [](Stream& from, Stream& to) {
    if (const std::string bytes = receive(from); !bytes.empty()) to.write(bytes);
  };
  for (int i = 0; i < 5; ++i) {
    client.handshake();
    forward(near.server, far.client);
    server.handshake();
    forward(far.client, near.server);
  }
  ASSERT_EQ(server.handshake(), IoStatus::kOk);

  client.write("whole");
  const std::string record = receive(near.server);
  far.client.write(record.substr(0, record.size() - 1));
  char buffer[100];
  EXPECT_EQ(server.read(buffer, sizeof buffer).status, IoStatus::kAgain);
  EXPECT_FALSE(server.has_buffered());
  far.client.write(record.substr(record.size() - 1));
  EXPECT_EQ(server.read(buffer, sizeof buffer).bytes, 5u);
}

TEST(TlsStream, AFullBufferDelaysBytesButNeverLosesThem) {
  StreamPair pair = shaken_pair();
  std::string sent;
  for (int i = 0; sent.size() < (1 << 20); ++i) sent += std::to_string(i) + ",";
  std::string rest = sent;
  std::string got;
  bool was_full = false;
  while (got.size() < sent.size()) {
    const IoCount count = rest.empty() ? IoCount{IoStatus::kAgain} : pair.client.write(rest);
    ASSERT_NE(count.status, IoStatus::kError) << pair.client.error_text();
    if (count.status == IoStatus::kAgain && !rest.empty()) {
      was_full = true;
      EXPECT_EQ(pair.client.events_for({.write = true}), std::uint32_t{EPOLLOUT});
    }
    // The buffer moves between attempts, like an output queue's buffer.
    rest = std::string(rest.substr(count.status == IoStatus::kOk ? count.bytes : 0));
    got += receive(pair.server);
  }
  EXPECT_TRUE(was_full);
  EXPECT_EQ(got, sent);
}

TEST(TlsStream, ALostPeerIsAnErrorNotASignal) {
  StreamPair pair = shaken_pair();
  pair.client.close();
  IoCount count{IoStatus::kOk};
  for (int i = 0; i < 3 && count.status == IoStatus::kOk; ++i) count = pair.server.write("x");
  EXPECT_EQ(count.status, IoStatus::kError);
  EXPECT_EQ(pair.server.error_text(), "TLS connection failed: Broken pipe");
}

TEST(TlsStream, AnEndWithoutCloseNotifyIsAClose) {
  StreamPair pair = shaken_pair();
  pair.client.close();
  char byte;
  EXPECT_EQ(pair.server.read(&byte, 1).status, IoStatus::kClosed);
}

TEST(TlsStream, PlainTextIsAHandshakeError) {
  const Contexts made = contexts();
  StreamPair pair = connected_pair();
  ASSERT_TRUE(pair.server.start_tls(made.server, {}));
  pair.client.write("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(pair.server.handshake(), IoStatus::kError);
  EXPECT_EQ(pair.server.error_text(), "TLS handshake failed: http request");
  EXPECT_EQ(pair.server.handshake(), IoStatus::kError);
}

TEST(TlsStream, TheClientStartsTheHandshake) {
  const Contexts made = contexts();
  StreamPair pair = tls_pair(made.server, made.client, {.host = "localhost"});
  EXPECT_EQ(pair.server.events_for({.write = true}), std::uint32_t{EPOLLIN});
  EXPECT_EQ(pair.client.events_for({.read = true}), std::uint32_t{EPOLLOUT});
  pair.client.handshake();
  EXPECT_EQ(pair.client.events_for({.write = true}), std::uint32_t{EPOLLIN});
}

TEST(TlsStream, PlainAndTlsShareAPort) {
  const Contexts made = contexts();
  StreamPair pair = connected_pair();
  ASSERT_TRUE(pair.client.start_tls(made.client, {.host = "localhost"}));
  pair.client.handshake();
  char first[5];
  ASSERT_EQ(pair.server.peek(first, sizeof first).bytes, 5u);
  ASSERT_TRUE(looks_like_tls({first, 5}));
  ASSERT_TRUE(pair.server.start_tls(made.server, {}));
  EXPECT_TRUE(shake_hands(pair));
}

// The loop's side of a connection, as in a server: handshake, then echo everything.
class Echo : public EventLoop::Handler {
 public:
  Echo(EventLoop& loop, Stream stream) : loop_(loop), stream_(std::move(stream)) {
    EXPECT_TRUE(loop_.add(stream_.fd(), stream_.events_for({.read = true}), this));
  }
  void on_ready(std::uint32_t) override {
    if (stream_.handshake() == IoStatus::kOk) {
      do read_some();
      while (stream_.has_buffered());
      if (!output_.empty()) write_some();
    }
    loop_.modify(stream_.fd(), stream_.events_for({.read = !closed, .write = !output_.empty()}), this);
  }
  bool closed = false;

 private:
  void read_some() {
    char buffer[1000];
    const IoCount got = stream_.read(buffer, sizeof buffer);
    if (got.status == IoStatus::kOk) output_.append(buffer, got.bytes);
    closed |= got.status == IoStatus::kClosed || got.status == IoStatus::kError;
  }
  void write_some() {
    const IoCount sent = stream_.write(output_);
    if (sent.status == IoStatus::kOk) output_.erase(0, sent.bytes);
  }

  EventLoop& loop_;
  Stream stream_;
  std::string output_;
};

TEST(TlsStream, RunsOnAnEventLoopOverTcp) {
  const Contexts made = contexts();
  auto loop = *EventLoop::create();
  auto listener = *Listener::open({.host = "127.0.0.1"});
  Stream client(*start_connect(listener.local()));
  ASSERT_TRUE(client.start_tls(made.client, {.host = "localhost", .address = listener.local()}));
  Accepted accepted;
  while (listener.accept(accepted) != AcceptStatus::kAccepted) continue;
  Stream server(std::move(accepted.socket));
  ASSERT_TRUE(server.start_tls(made.server, {.address = accepted.peer}));
  Echo echo(*loop, std::move(server));

  while (client.handshake() == IoStatus::kAgain) loop->run_once(1);
  const std::string sent(1 << 20, 'e');
  std::string_view rest = sent;
  std::string got;
  while (got.size() < sent.size() && !echo.closed) {
    const IoCount count = rest.empty() ? IoCount{IoStatus::kAgain} : client.write(rest);
    if (count.status == IoStatus::kOk) rest.remove_prefix(count.bytes);
    loop->run_once(0);
    got += receive(client);
  }
  EXPECT_EQ(got, sent);
  client.shutdown();
  while (!echo.closed) loop->run_once(10);
}

}  // namespace
}  // namespace drover::net
