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
using testing::ReservedPort;
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

// --- other addresses ---

TEST(PeerListener, AfterARebindItAcceptsAtTheNewAddressAndNotAtTheOld) {
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}}});
  const Endpoint old = server.endpoint();
  const ReservedPort port;
  ASSERT_TRUE(server.listener->rebind({port.endpoint()}));
  ASSERT_EQ(server.listener->local().size(), 1u);
  EXPECT_EQ(server.endpoint(), port.endpoint());
  Client late(world, old);
  Client client(world, server.endpoint());
  ASSERT_TRUE(world.until([&] { return late.recorder.closed && server.door.accepted.size() == 1; }));
  EXPECT_EQ(late.recorder.connected, 0);
}

TEST(PeerListener, AnAddressInBothListsStaysOpen) {
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}, {"127.0.0.2", 0}}});
  const Address kept = server.listener->local().front();
  // Connected to the kernel's queue only. A listener that is opened again would lose it.
  const Socket waiting = *start_connect(kept);
  ASSERT_TRUE(server.listener->rebind({{"127.0.0.1", 0}, {"127.0.0.3", 0}}));
  EXPECT_EQ(server.listener->local().front(), kept);
  EXPECT_EQ(server.listener->local().back().ip_text(), "127.0.0.3");
  EXPECT_TRUE(world.until([&] { return server.door.accepted.size() == 1; }));
}

TEST(PeerListener, AnotherNameOfTheSameAddressKeepsTheListener) {
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}}});
  const Address local = server.listener->local().front();
  ASSERT_TRUE(server.listener->rebind({{"127.0.0.1", local.port()}}));
  EXPECT_EQ(server.listener->local(), std::vector{local});

  Listening everywhere(world, {.at = {{"", 0}}});
  const std::uint16_t port = everywhere.listener->local().front().port();
  ASSERT_TRUE(everywhere.listener->rebind({{"0.0.0.0", port}}));
  EXPECT_EQ(everywhere.listener->local().size(), 1u);
}

TEST(PeerListener, AfterAFailedRebindTheOldAddressesStayOpenAndTheNewOnesAreClosed) {
  World world;
  Listening other(world, {.at = {{"127.0.0.9", 0}}});
  Listening server(world, {.at = {{"127.0.0.1", 0}, {"127.0.0.2", 0}}});
  const std::vector<Address> before = server.listener->local();
  const ReservedPort port;
  // They are opened in this order.
  ASSERT_FALSE(server.listener->rebind({{"127.0.0.1", 0}, port.endpoint(), other.endpoint()}));
  EXPECT_EQ(server.listener->local(), before);
  std::vector<std::unique_ptr<Client>> clients;
  for (const Address& address : before) {
    clients.push_back(std::make_unique<Client>(world, endpoint_of(address)));
  }
  Client refused(world, port.endpoint());
  ASSERT_TRUE(world.until([&] { return server.door.accepted.size() == 2 && refused.recorder.closed; }));
  EXPECT_EQ(refused.recorder.connected, 0);
}

TEST(PeerListener, AHandshakeInProgressSurvivesARebind) {
  const PeerCertificates certificates;
  World world;
  Listening server(world, {.at = {{"127.0.0.1", 0}}, .tls = certificates.tls_or_plain()});
  Client client(world, server.endpoint());
  ASSERT_TRUE(world.until([&] { return server.listener->next_time().has_value(); }))
      << "it is in its handshake";
  ASSERT_TRUE(server.listener->rebind({{"127.0.0.2", 0}}));
  client.say("plain words");
  EXPECT_TRUE(world.until([&] { return server.door.accepted.size() == 1; }));
}

}  // namespace
}  // namespace drover::net
