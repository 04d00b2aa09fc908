// SPDX-License-Identifier: Apache-2.0
#include "net/dialer.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <future>

#include "net/peer_test_support.h"

namespace drover::net {
namespace {

using testing::Door;
using testing::endpoint_of;
using testing::PeerCertificates;
using testing::ReservedPort;
using testing::World;

struct Dial {
  Dial(World& w, const DialOptions& options)
      : dialer(std::make_unique<Dialer>(w.loop(), w.resolver(), options, [this](IoResult<Dialled> got) {
          dialer.reset();  // Allowed; owners do this.
          result = std::move(got);
        })) {
    w.keep_time(dialer);
  }
  bool ended() const { return result.has_value(); }

  std::unique_ptr<Dialer> dialer;
  std::optional<IoResult<Dialled>> result;
};

struct Server {
  Server(World& world, PeerTls tls = {})
      : listener(*PeerListener::open(world.loop(), door, {.at = {{"127.0.0.1", 0}}, .tls = tls})) {
    world.keep_time(listener);
  }
  Address address() const { return listener->local().front(); }
  Endpoint endpoint() const { return endpoint_of(address()); }

  Door door;
  std::unique_ptr<PeerListener> listener;
};

TEST(Dialer, ConnectsToALiteralAddressWithoutAResolver) {
  World world([](const std::string&, std::uint16_t) -> Resolver::Addresses { std::abort(); });
  Server server(world);
  Dial dial(world, {.to = {server.endpoint()}});
  ASSERT_TRUE(world.until([&] { return dial.ended(); }));
  ASSERT_TRUE(*dial.result);
  EXPECT_EQ((*dial.result)->peer, server.address());
}

TEST(Dialer, ConnectsToAName) {
  World world([](const std::string& host, std::uint16_t) -> Resolver::Addresses {
    if (host != "zk1") return std::unexpected(data_error("no such host: " + host));
    return std::vector<Address>{*Address::parse("127.0.0.1", 0)};
  });
  Server server(world);
  Dial dial(world, {.to = {{"zk1", server.address().port()}}});
  ASSERT_TRUE(world.until([&] { return dial.ended(); }));
  EXPECT_TRUE(*dial.result);
}

TEST(Dialer, UsesTheFirstAddressThatAnswers) {
  World world([](const std::string&, std::uint16_t) -> Resolver::Addresses {
    return std::unexpected(data_error("no such host"));
  });
  const ReservedPort nobody;
  Server server(world);
  Dial dial(world, {.to = {nobody.endpoint(), {"nowhere", 1}, server.endpoint()}});
  ASSERT_TRUE(world.until([&] { return dial.ended(); }));
  ASSERT_TRUE(*dial.result);
  EXPECT_EQ((*dial.result)->peer, server.address());
}

TEST(Dialer, IfNoAddressAnswersTheErrorNamesEachWithItsReason) {
  World world([](const std::string&, std::uint16_t) -> Resolver::Addresses {
    return std::unexpected(data_error("no such host"));
  });
  const ReservedPort nobody;
  Dial dial(world, {.to = {nobody.endpoint(), {"nowhere", 1}}});
  ASSERT_TRUE(world.until([&] { return dial.ended(); }));
  ASSERT_FALSE(*dial.result);
  const std::string what = dial.result->error().what;
  EXPECT_NE(what.find(to_text(nobody.endpoint()) + ": cannot connect: Connection refused"), std::string::npos)
      << what;
  EXPECT_NE(what.find("nowhere:1: no such host"), std::string::npos) << what;
}

TEST(Dialer, WithoutAnAddressItFailsAsynchronously) {
  World world;
  Dial dial(world, {});
  EXPECT_FALSE(dial.ended());
  ASSERT_TRUE(world.until([&] { return dial.ended(); }));
  EXPECT_FALSE(*dial.result);
}

TEST(Dialer, AResolverThatNeverAnswersIsATimeout) {
  const auto release = std::make_shared<std::promise<void>>();
  World world([release](const std::string&, std::uint16_t) -> Resolver::Addresses {
    release->get_future().wait();
    return std::vector<Address>{};
  });
  Dial dial(world, {.to = {{"slow", 1}}, .timeout_ms = 30});
  ASSERT_TRUE(world.until([&] { return dial.ended(); }));
  ASSERT_FALSE(*dial.result);
  EXPECT_EQ(dial.result->error().code, ETIMEDOUT);
  release->set_value();
}

TEST(Dialer, AnUnfinishedTlsHandshakeIsATimeout) {
  const PeerCertificates certificates;
  World world;
  Server plain(world);
  Dial dial(world, {.to = {plain.endpoint()}, .tls = certificates.tls().client, .timeout_ms = 30});
  ASSERT_TRUE(world.until([&] { return dial.ended(); }));
  ASSERT_FALSE(*dial.result);
  EXPECT_EQ(dial.result->error().code, ETIMEDOUT);
}

TEST(Dialer, CompletesTheTlsHandshakeBeforeItReportsAConnection) {
  const PeerCertificates certificates;
  World world;
  Server server(world, certificates.tls());
  Dial dial(world, {.to = {server.endpoint()}, .tls = certificates.tls().client});
  ASSERT_TRUE(world.until([&] { return dial.ended() && server.door.accepted.size() == 1; }));
  ASSERT_TRUE(*dial.result) << dial.result->error().what;
  EXPECT_EQ((*dial.result)->stream.tls_version(), "TLSv1.3");
}

}  // namespace
}  // namespace drover::net
