// SPDX-License-Identifier: Apache-2.0
#include "net/peer_listener.h"

#include <gtest/gtest.h>

#include "net/peer_test_support.h"

namespace drover::net {
namespace {

using testing::Door;
using testing::endpoint_of;
using testing::PeerCertificates;
using testing::Recorder;
using testing::World;

struct Listening {
  Listening(World& world, const PeerListenerOptions& options)
      : listener(*PeerListener::open(world.loop(), door, options)) {
    world.keep_time(listener);
  }
  Endpoint endpoint() const { return endpoint_of(listener->local().front()); }

  Door door;
  std::unique_ptr<PeerListener> listener;
};

struct Client {
  Client(World& world, const Endpoint& to, const TlsContextHolder* tls = nullptr)
      : link(PeerLink::dial(world.loop(), world.resolver(), recorder, {.to = {to}, .tls = tls})) {
    world.keep_time(link);
  }
  void say(std::string_view bytes) {
    link->output() += bytes;
    link->flush();
  }

  Recorder recorder;
  std::unique_ptr<PeerLink> link;
};

TEST(PeerListener, AcceptsAtAllItsAddresses) {
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}, {"127.0.0.2", 0}}});
  ASSERT_EQ(server.listener->local().size(), 2u);
  std::vector<std::unique_ptr<Client>> clients;
  for (const Address& address : server.listener->local()) {
    clients.push_back(std::make_unique<Client>(world, endpoint_of(address)));
  }
  EXPECT_TRUE(world.until([&] { return server.door.accepted.size() == 2; }));
}

TEST(PeerListener, TheWildcardIsBoundOnceEvenIfRequestedSeveralTimes) {
  World world;
  Listening server(world, {.at = {{"", 0}, {"", 0}}});
  EXPECT_EQ(server.listener->local().size(), 1u);
  Client client(world, {"127.0.0.1", server.listener->local().front().port()});
  EXPECT_TRUE(world.until([&] { return server.door.accepted.size() == 1; }));
}

TEST(PeerListener, APortInUseIsAnErrorAtTheStart) {
  World world;
  Listening first(world, {.at = {{"127.0.0.1", 0}}});
  Door door;
  EXPECT_FALSE(PeerListener::open(world.loop(), door, {.at = {{"127.0.0.1", 0}, first.endpoint()}}));
}

TEST(PeerListener, OnATlsPortAPlainConnectionIsRefused) {
  const PeerCertificates certificates;
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}}, .tls = certificates.tls()});
  Client client(world, server.endpoint());
  client.say("plain words");
  ASSERT_TRUE(world.until([&] { return client.recorder.closed && !server.door.refused.empty(); }));
  EXPECT_TRUE(server.door.accepted.empty());
}

TEST(PeerListener, OnAUnifiedPortTheFirstByteDistinguishesTlsFromPlain) {
  const PeerCertificates certificates;
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}}, .tls = certificates.tls_or_plain()});
  Client plain(world, server.endpoint());
  plain.say("plain words");
  ASSERT_TRUE(world.until([&] { return server.door.accepted.size() == 1; }));
  EXPECT_FALSE(server.door.accepted[0].is_tls());
  EXPECT_EQ(testing::receive(server.door.accepted[0]), "plain words");

  Client secure(world, server.endpoint(), certificates.tls().client);
  ASSERT_TRUE(world.until([&] { return server.door.accepted.size() == 2; }));
  EXPECT_TRUE(server.door.accepted[1].is_tls());
}

TEST(PeerListener, AnIncompleteHandshakeTimesOut) {
  const PeerCertificates certificates(30);
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}}, .tls = certificates.tls()});
  Client client(world, server.endpoint());
  client.say("\x16\x03\x01");
  ASSERT_TRUE(world.until([&] { return client.recorder.closed.has_value(); }));
  EXPECT_EQ(server.door.refused, std::vector<std::string>{"the handshake took too long"});
}

TEST(PeerListener, ASilentConnectionOnAUnifiedPortTimesOut) {
  const PeerCertificates certificates(30);
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}}, .tls = certificates.tls_or_plain()});
  Client client(world, server.endpoint());
  EXPECT_TRUE(world.until([&] { return client.recorder.closed.has_value(); }));
}

TEST(PeerListener, ManyIncompleteHandshakesDoNotBlockOthers) {
  const PeerCertificates certificates;
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}}, .tls = certificates.tls(), .opening_max = 3});
  std::vector<std::unique_ptr<Client>> idle;
  while (idle.size() < 10) idle.push_back(std::make_unique<Client>(world, server.endpoint()));
  ASSERT_TRUE(world.until([&] { return server.door.refused.size() == 7; }));
  Client genuine(world, server.endpoint(), certificates.tls().client);
  EXPECT_TRUE(world.until([&] { return server.door.accepted.size() == 1; }));
  EXPECT_EQ(server.door.refused.size(), 8u);
}

}  // namespace
}  // namespace drover::net
