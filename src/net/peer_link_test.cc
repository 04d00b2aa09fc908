// SPDX-License-Identifier: Apache-2.0
#include "net/peer_link.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/peer_test_support.h"

namespace drover::net {
namespace {

using testing::endpoint_of;
using testing::PeerCertificates;
using testing::Recorder;
using testing::ReservedPort;
using testing::World;

// Accepts connections one after the other and makes links of them.
struct Server : PeerListener::Owner {
  Server(World& w, const Endpoint& at, const PeerTls& tls = {}, const PeerLinkOptions& o = {})
      : world(w), options(o), listener(*PeerListener::open(w.loop(), *this, {.at = {at}, .tls = tls})) {
    world.keep_time(listener);
    world.keep_time(link);
  }
  void on_accepted(Stream stream, const Address& peer) override {
    link = *PeerLink::accept(world.loop(), owner ? *owner : recorder, std::move(stream), peer, options);
  }
  void on_refused(const Address&, const std::string& reason) override { FAIL() << reason; }
  Endpoint endpoint() const { return endpoint_of(listener->local().front()); }

  World& world;
  PeerLinkOptions options;
  PeerLink::Owner* owner = nullptr;
  Recorder recorder;
  std::unique_ptr<PeerLink> link;
  std::unique_ptr<PeerListener> listener;
};

// Two ends of a connection.
struct Pair {
  explicit Pair(World& world, const PeerTls& tls = {}, const PeerLinkOptions& server_options = {},
                PeerLink::Owner* server_owner = nullptr)
      : server(world, {"127.0.0.1", 0}, tls, server_options) {
    server.owner = server_owner;
    client = PeerLink::dial(world.loop(), world.resolver(), recorder,
                            {.to = {server.endpoint()}, .tls = tls.client});
    world.keep_time(client);
    EXPECT_TRUE(world.until([&] { return recorder.connected == 1 && server.link != nullptr; }));
  }
  void say(std::string_view bytes) {
    client->output() += bytes;
    client->flush();
  }

  Server server;
  Recorder recorder;
  std::unique_ptr<PeerLink> client;
};

std::string pattern(std::size_t n) {
  std::string bytes(n, '\0');
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>(i * 31 + (i >> 8));
  return bytes;
}

int no_delay(const PeerLink& link) {
  int value = -1;
  socklen_t length = sizeof value;
  ::getsockopt(link.stream().fd(), IPPROTO_TCP, TCP_NODELAY, &value, &length);
  return value;
}

TEST(PeerLink, CarriesBytesBothWaysWithoutDelay) {
  World world;
  Pair pair(world);
  pair.say("FOLLOWERINFO");
  ASSERT_TRUE(world.until([&] { return pair.server.recorder.received == "FOLLOWERINFO"; }));
  pair.server.link->output() += "LEADERINFO";
  pair.server.link->flush();
  ASSERT_TRUE(world.until([&] { return pair.recorder.received == "LEADERINFO"; }));
  EXPECT_EQ(no_delay(*pair.client), 1);
  EXPECT_EQ(no_delay(*pair.server.link), 1);
  EXPECT_EQ(pair.client->queued_bytes(), 0u);
}

TEST(PeerLink, CarriesMuchDataBothWaysAtOnceOverPlainAndTls) {
  const PeerCertificates certificates;
  const std::string there = pattern(20'000'000);
  const std::string back = pattern(15'000'001);
  for (const PeerTls& tls : {PeerTls{}, certificates.tls()}) {
    World world;
    Pair pair(world, tls);
    EXPECT_EQ(pair.client->stream().is_tls(), tls.client != nullptr);
    pair.say(there);
    pair.server.link->output() += back;
    pair.server.link->flush();
    ASSERT_TRUE(world.until([&] {
      return pair.server.recorder.received.size() >= there.size() &&
             pair.recorder.received.size() >= back.size();
    }));
    EXPECT_TRUE(pair.server.recorder.received == there);
    EXPECT_TRUE(pair.recorder.received == back);
    EXPECT_EQ(pair.client->queued_bytes(), 0u);
  }
}

// Consumes only complete packets of a fixed size.
struct PacketReader : Recorder {
  explicit PacketReader(std::size_t n) : packet_bytes(n) {}
  std::size_t on_bytes(PeerLink&, std::string_view bytes) override {
    largest = std::max(largest, bytes.size());
    const std::size_t whole = bytes.size() - bytes.size() % packet_bytes;
    received += bytes.substr(0, whole);
    return whole;
  }
  std::size_t packet_bytes;
  std::size_t largest = 0;
};

TEST(PeerLink, AnIncompletePacketIsDeliveredAgainWithMoreBytes) {
  const PeerCertificates certificates;
  const std::string sent = pattern(3 * 777'777);
  for (const PeerTls& tls : {PeerTls{}, certificates.tls()}) {
    World world;
    PacketReader reader(777'777);
    Pair pair(world, tls, {}, &reader);
    pair.say(sent);
    ASSERT_TRUE(world.until([&] { return reader.received.size() == sent.size(); }));
    EXPECT_TRUE(reader.received == sent);
  }
}

TEST(PeerLink, APacketMayBeAsLargeAsATransactionWithALargeJuteMaxbuffer) {
  World world;
  PacketReader reader(9'000'000);
  Pair pair(world, {}, {}, &reader);
  pair.say(pattern(9'000'000));
  ASSERT_TRUE(world.until([&] { return reader.closed || !reader.received.empty(); }));
  EXPECT_TRUE(reader.received == pattern(9'000'000));
}

TEST(PeerLink, DataThatTlsHasAlreadyDecryptedIsDelivered) {
  // One record, read in many small steps: epoll reports only the first.
  const PeerCertificates certificates;
  World world;
  Pair pair(world, certificates.tls(), {.read_bytes = 100});
  const std::string record = pattern(10'000);
  pair.say(record);
  ASSERT_TRUE(world.until([&] { return pair.server.recorder.received.size() == record.size(); }));
  EXPECT_EQ(pair.server.recorder.received, record);
}

TEST(PeerLink, DataThatArrivesWithTheEndOfTheHandshakeIsDelivered) {
  const PeerCertificates certificates;
  World world;
  Server server(world, {"127.0.0.1", 0}, certificates.tls());
  Recorder recorder;
  auto link = PeerLink::dial(world.loop(), world.resolver(), recorder,
                             {.to = {server.endpoint()}, .tls = certificates.tls().client});
  world.keep_time(link);
  link->output() += "at once";
  EXPECT_TRUE(world.until([&] { return server.recorder.received == "at once"; }));
}

TEST(PeerLink, BytesThatFormNoPacketCloseTheLinkAtTheLimit) {
  World world;
  PacketReader reader(1'000'000'000);
  Pair pair(world, {}, {.read_bytes = 10'000, .input_bytes_max = 100'000}, &reader);
  pair.say(pattern(50'000'000));
  ASSERT_TRUE(world.until([&] { return reader.closed && pair.recorder.closed; }));
  EXPECT_EQ(*reader.closed, "it sent a packet of more than 100000 bytes");
  EXPECT_LE(reader.largest, 110'000u);
  EXPECT_FALSE(pair.server.link->is_open());
}

// Sends a stream of many chunks, each one when the link asks for it.
struct Pump : Recorder {
  void on_writable(PeerLink& link) override {
    ++writable;
    queued_max = std::max(queued_max, link.queued_bytes());
    if (chunks-- == 0) return;
    link.output() += std::string(kChunk, 'c');
    link.flush();
    link.ask_writable();
  }
  static constexpr std::size_t kChunk = 300'000;
  int chunks = 200;
  std::size_t queued_max = 0;
};

TEST(PeerLink, ALongStreamIsSentInChunksWhileTheReaderIsSlow) {
  World world;
  Pump pump;
  Pair pair(world, {}, {.low_water_bytes = 100'000}, &pump);
  const std::size_t total = static_cast<std::size_t>(pump.chunks) * Pump::kChunk;
  pair.server.link->ask_writable();
  EXPECT_EQ(pump.writable, 0) << "a later turn of the loop, even when there is room";
  ASSERT_TRUE(world.until([&] { return pair.recorder.received.size() == total; }));
  EXPECT_LE(pump.queued_max, 100'000u);
  EXPECT_EQ(pump.writable, 201);
}

TEST(PeerLink, ReportsBytesQueuedForASlowReader) {
  World world;
  testing::Door door;
  auto listener = *PeerListener::open(world.loop(), door, {.at = {{"127.0.0.1", 0}}});
  Recorder recorder;
  auto link = PeerLink::dial(world.loop(), world.resolver(), recorder,
                             {.to = {endpoint_of(listener->local().front())}});
  world.keep_time(link);
  ASSERT_TRUE(world.until([&] { return recorder.connected == 1 && door.accepted.size() == 1; }));
  constexpr std::size_t kSent = 50'000'000;
  link->output() += pattern(kSent);
  link->flush();
  link->ask_writable();
  world.settle();
  EXPECT_GT(link->queued_bytes(), kSent / 2);
  EXPECT_EQ(recorder.writable, 0) << "far above the low-water mark";

  // A slow reader finally gets all bytes, in order.
  std::string got;
  const Instant deadline = world.loop().now() + testing::kPatienceMs;
  while (got.size() < kSent && world.loop().now() < deadline) {
    got += testing::receive(door.accepted[0]);
    world.settle();
  }
  EXPECT_TRUE(got == pattern(kSent));
  EXPECT_EQ(recorder.writable, 1);
  EXPECT_LE(recorder.queued_when_writable, PeerLinkOptions{}.low_water_bytes);
  EXPECT_EQ(link->queued_bytes(), 0u);
}

TEST(PeerLink, ReportsThatThePeerClosed) {
  World world;
  Pair pair(world);
  pair.say("last words");
  pair.client.reset();
  ASSERT_TRUE(world.until([&] { return pair.server.recorder.closed.has_value(); }));
  EXPECT_EQ(pair.server.recorder.received, "last words");
  EXPECT_EQ(*pair.server.recorder.closed, "the peer closed the connection");
}

TEST(PeerLink, AFailedSendIsReportedLaterAndNotFromFlush) {
  World world;
  Pair pair(world);
  const linger abort{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(pair.client->stream().fd(), SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
  pair.client.reset();  // A reset, not a clean close.
  PeerLink& link = *pair.server.link;
  for (int i = 0; i < 100 && link.is_open(); ++i) {
    link.output() += "into the void";
    link.flush();
    EXPECT_FALSE(pair.server.recorder.closed);
  }
  ASSERT_TRUE(world.until([&] { return pair.server.recorder.closed.has_value(); }));
  EXPECT_NE(pair.server.recorder.closed->find("connection failed"), std::string::npos)
      << *pair.server.recorder.closed;
}

TEST(PeerLink, CallsNoCallbackAfterItsOwnerClosedIt) {
  World world;
  Pair pair(world);
  pair.client->close();
  pair.say("too late");
  ASSERT_TRUE(world.until([&] { return pair.server.recorder.closed.has_value(); }));
  EXPECT_FALSE(pair.recorder.closed);
  EXPECT_EQ(pair.server.recorder.received, "");
}

TEST(PeerLink, FinishSendsEverythingIgnoresRepliesAndWaitsForThePeerToClose) {
  const PeerCertificates certificates;
  for (const PeerTls& tls : {PeerTls{}, certificates.tls()}) {
    World world;
    Pair pair(world, tls);
    const std::string all = pattern(5'000'000);
    pair.say(all);
    pair.server.link->output() += "an answer nobody wants";
    pair.server.link->flush();
    pair.client->finish();
    ASSERT_TRUE(world.until([&] { return pair.server.recorder.closed && pair.recorder.closed; }));
    EXPECT_TRUE(pair.server.recorder.received == all);
    EXPECT_EQ(pair.recorder.received, "");
  }
}

// Destroys its link from a callback.
struct Destroyer : Recorder {
  std::size_t on_bytes(PeerLink&, std::string_view) override { return slot->reset(), 0; }
  void on_writable(PeerLink&) override { slot->reset(); }
  void on_connected(PeerLink&) override { slot->reset(); }
  void on_closed(PeerLink&, const std::string&) override { slot->reset(); }
  std::unique_ptr<PeerLink>* slot = nullptr;
};

TEST(PeerLink, MayBeDestroyedFromEveryCallback) {
  const PeerCertificates certificates;
  for (const PeerTls& tls : {PeerTls{}, certificates.tls()}) {
    for (const int what : {0, 1, 2}) {
      World world;
      Destroyer destroyer;
      Pair pair(world, tls, {}, &destroyer);
      destroyer.slot = &pair.server.link;
      if (what == 0) pair.say("bytes");
      if (what == 1) pair.server.link->ask_writable();
      if (what == 2) pair.client.reset();
      EXPECT_TRUE(world.until([&] { return pair.server.link == nullptr; }));
    }
    World world;
    Server server(world, {"127.0.0.1", 0}, tls);
    Destroyer destroyer;
    std::unique_ptr<PeerLink> link;
    destroyer.slot = &link;
    link = PeerLink::dial(world.loop(), world.resolver(), destroyer,
                          {.to = {server.endpoint()}, .tls = tls.client});
    world.keep_time(link);
    EXPECT_TRUE(world.until([&] { return link == nullptr; }));
  }
}

TEST(PeerLink, DataSentBeforeTheLinkIsUpIsDelivered) {
  World world;
  Server server(world, {"127.0.0.1", 0});
  Recorder recorder;
  auto link = PeerLink::dial(world.loop(), world.resolver(), recorder, {.to = {server.endpoint()}});
  world.keep_time(link);
  link->output() += "said before it was up";
  link->flush();
  ASSERT_TRUE(world.until([&] { return server.recorder.received == "said before it was up"; }));
}

TEST(PeerLink, ARefusedConnectionIsReported) {
  const ReservedPort port;
  World world;
  Recorder recorder;
  auto link = PeerLink::dial(world.loop(), world.resolver(), recorder, {.to = {port.endpoint()}});
  world.keep_time(link);
  ASSERT_TRUE(world.until([&] { return recorder.closed.has_value(); }));
  EXPECT_NE(recorder.closed->find("Connection refused"), std::string::npos) << *recorder.closed;
  EXPECT_EQ(recorder.connected, 0);
}

}  // namespace
}  // namespace drover::net
