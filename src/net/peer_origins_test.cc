// SPDX-License-Identifier: Apache-2.0
//
// The address that a connection comes from decides as which server it may act.
#include "net/peer_origins.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>

#include "net/election_test_support.h"
#include "net/tls_world_testing.h"

namespace drover::net {
namespace {

using namespace testing;

// A name service with answers from the test. The lookup threads may outlive the test.
class Names {
 public:
  Resolver::Lookup lookup() {
    return [state = state_](const std::string& host, std::uint16_t) -> Resolver::Addresses {
      const std::lock_guard lock(state->mutex);
      ++state->lookups;
      const auto found = state->ips.find(host);
      if (found == state->ips.end()) return std::unexpected(data_error("no such host"));
      return std::vector<Address>{*Address::parse(found->second, 0)};
    };
  }
  void set(const std::string& host, const std::string& ip) {
    const std::lock_guard lock(state_->mutex);
    state_->ips[host] = ip;
  }
  void forget_all() {
    const std::lock_guard lock(state_->mutex);
    state_->ips.clear();
  }
  int asked() const {
    const std::lock_guard lock(state_->mutex);
    return state_->lookups;
  }

 private:
  struct State {
    std::mutex mutex;
    std::map<std::string, std::string> ips;
    int lookups = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

Address from(const char* ip) { return *Address::parse(ip, 40'000); }

const PeerOrigins::Peers kLiterals{{kOne, {{"10.0.0.1", 3888}}},
                                   {kTwo, {{"10.0.0.2", 3888}, {"fd00::2", 3889}}}};

TEST(PeerOrigins, AServerMustComeFromOneOfItsAddresses) {
  World world;
  PeerOrigins origins(world.resolver(), {OriginCheck::kStrict}, kLiterals);
  const Stream plain;
  EXPECT_FALSE(origins.objection(kOne, plain, from("10.0.0.1")));
  EXPECT_FALSE(origins.objection(kTwo, plain, from("10.0.0.2")));
  EXPECT_FALSE(origins.objection(kTwo, plain, from("fd00::2")));
  EXPECT_TRUE(origins.objection(kOne, plain, from("10.0.0.2"))) << "another member";
  const auto objection = origins.objection(kTwo, plain, from("10.0.0.9"));
  ASSERT_TRUE(objection);
  EXPECT_EQ(*objection,
            "it claims to be server 2, which is configured at 10.0.0.2:3888 and others (see "
            "quorum.peerAddressCheck)");
}

TEST(PeerOrigins, AServerSeenAtItsAddressMustKeepUsingIt) {
  World world;
  std::vector<std::string> warnings;
  PeerOrigins origins(world.resolver(), {OriginCheck::kLearned}, kLiterals,
                      [&](const std::string& line) { warnings.push_back(line); });
  const Stream plain;
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(origins.objection(kOne, plain, from("192.0.2.7"))) << "behind a NAT";
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("192.0.2.7"), std::string::npos);
  EXPECT_FALSE(origins.objection(kOne, plain, from("10.0.0.1")));
  EXPECT_TRUE(origins.objection(kOne, plain, from("192.0.2.7")));
  EXPECT_FALSE(origins.objection(kTwo, plain, from("192.0.2.7"))) << "each server for itself";
}

TEST(PeerOrigins, SwitchedOffItAcceptsEveryAddress) {
  World world;
  PeerOrigins origins(world.resolver(), {OriginCheck::kOff}, kLiterals);
  EXPECT_FALSE(origins.objection(kOne, Stream(), from("10.0.0.1")));
  EXPECT_FALSE(origins.objection(kOne, Stream(), from("192.0.2.7")));
}

TEST(PeerOrigins, OnOneMachineAServerMayComeFromTheUsualLoopbackAddress) {
  World world;
  PeerOrigins origins(world.resolver(), {OriginCheck::kStrict},
                      {{kOne, {{"127.0.1.1", 1}}}, {kTwo, {{"0.0.0.0", 1}}}});
  EXPECT_FALSE(origins.objection(kOne, Stream(), from("127.0.0.1")));
  EXPECT_FALSE(origins.objection(kOne, Stream(), from("::1")));
  EXPECT_FALSE(origins.objection(kOne, Stream(), from("127.0.1.1")));
  EXPECT_TRUE(origins.objection(kOne, Stream(), from("127.0.0.66"))) << "which nobody gets by chance";
  EXPECT_TRUE(origins.objection(kOne, Stream(), from("10.0.0.1")));
  EXPECT_FALSE(origins.objection(kTwo, Stream(), from("10.0.0.1"))) << "configured at every address";
}

// --- other memberships ---

TEST(PeerOrigins, AfterAChangeOfMembershipTheNewAddressesCount) {
  World world;
  PeerOrigins origins(world.resolver(), {OriginCheck::kStrict}, kLiterals);
  origins.set_peers({{kOne, {{"10.0.0.7", 3888}}}, {kThree, {{"10.0.0.3", 3888}}}});
  EXPECT_FALSE(origins.objection(kOne, Stream(), from("10.0.0.7")));
  EXPECT_TRUE(origins.objection(kOne, Stream(), from("10.0.0.1"))) << "where it was before";
  EXPECT_FALSE(origins.objection(kThree, Stream(), from("10.0.0.3")));
  EXPECT_TRUE(origins.objection(kThree, Stream(), from("10.0.0.1")));
}

TEST(PeerOrigins, NoAddressIsExpectedOfAServerThatIsNotAMember) {
  World world;
  PeerOrigins origins(world.resolver(), {OriginCheck::kStrict}, kLiterals);
  EXPECT_FALSE(origins.objection(kThree, Stream(), from("192.0.2.7")));
  origins.set_peers({{kOne, kLiterals.at(kOne)}});
  EXPECT_FALSE(origins.objection(kTwo, Stream(), from("192.0.2.7"))) << "removed";
}

TEST(PeerOrigins, AServerIsLearnedAgainOnlyIfItsHostsChange) {
  World world;
  PeerOrigins origins(world.resolver(), {OriginCheck::kLearned}, kLiterals);
  EXPECT_FALSE(origins.objection(kOne, Stream(), from("10.0.0.1")));
  origins.set_peers({{kOne, {{"10.0.0.1", 4888}}}});
  EXPECT_TRUE(origins.objection(kOne, Stream(), from("192.0.2.7"))) << "only its port is new";
  origins.set_peers({{kOne, {{"10.0.0.7", 4888}}}});
  EXPECT_FALSE(origins.objection(kOne, Stream(), from("192.0.2.7"))) << "not seen at its new host yet";
  EXPECT_FALSE(origins.objection(kOne, Stream(), from("10.0.0.7")));
  EXPECT_TRUE(origins.objection(kOne, Stream(), from("192.0.2.7")));
}

TEST(PeerOrigins, AnAddressWithItsPortBelongsToAMember) {
  World world;
  PeerOrigins origins(world.resolver(), {OriginCheck::kLearned}, kLiterals);
  EXPECT_TRUE(origins.is_of_peer(*Address::parse("10.0.0.1", 3888)));
  EXPECT_TRUE(origins.is_of_peer(*Address::parse("fd00::2", 3889)));
  EXPECT_FALSE(origins.is_of_peer(*Address::parse("10.0.0.1", 3889))) << "another server on its machine";
  EXPECT_FALSE(origins.is_of_peer(*Address::parse("10.0.0.9", 3888)));
  origins.set_peers({{kOne, {{"10.0.0.9", 3888}}}});
  EXPECT_FALSE(origins.is_of_peer(*Address::parse("10.0.0.1", 3888)));
  EXPECT_TRUE(origins.is_of_peer(*Address::parse("10.0.0.9", 3888)));
}

// Server 1 is configured with a name that resolves to 10.0.0.1.
class PeerOriginsByName : public ::testing::Test {
 protected:
  PeerOriginsByName() { names.set("zk1", "10.0.0.1"); }
  void SetUp() override {
    ASSERT_TRUE(world.until([&] { return !origins.objection(kOne, plain, from("10.0.0.1")); }));
  }
  Names names;
  World world{names.lookup()};
  PeerOrigins origins{world.resolver(), {OriginCheck::kStrict}, {{kOne, {{"zk1", 3888}}}}};
  const Stream plain;
};

TEST_F(PeerOriginsByName, AServerThatMovedIsAcceptedOnceDnsKnowsItsAddress) {
  EXPECT_TRUE(origins.objection(kOne, plain, from("10.0.0.7")));
  names.set("zk1", "10.0.0.7");
  EXPECT_TRUE(world.until([&] { return !origins.objection(kOne, plain, from("10.0.0.7")); }));
  EXPECT_TRUE(origins.objection(kOne, plain, from("10.0.0.1"))) << "where it was before";
}

TEST_F(PeerOriginsByName, KnownAddressesRemainValidWhenDnsFails) {
  names.forget_all();
  const int before = names.asked();
  EXPECT_TRUE(origins.objection(kOne, plain, from("10.0.0.9")));
  ASSERT_TRUE(world.until([&] { return names.asked() > before; }));
  EXPECT_FALSE(origins.objection(kOne, plain, from("10.0.0.1")));
}

TEST_F(PeerOriginsByName, ANewMembersNameIsLookedUp) {
  names.set("zk2", "10.0.0.2");
  origins.set_peers({{kOne, {{"zk1", 3888}}}, {kTwo, {{"zk2", 3888}}}});
  EXPECT_FALSE(origins.objection(kOne, plain, from("10.0.0.1"))) << "its addresses are still known";
  EXPECT_TRUE(world.until([&] { return !origins.objection(kTwo, plain, from("10.0.0.2")); }));
  EXPECT_TRUE(origins.is_of_peer(*Address::parse("10.0.0.2", 3888)));
}

// --- certificates ---

// The accepting side of a TLS link whose client has a certificate with these names.
StreamPair link_of(const std::string& alt_names) {
  const TlsWorld& tls = testing::world();
  const drover::net::testing::Identity identity =
      make_identity({.common_name = "server 2", .issuer = &tls.authority, .alt_names = alt_names});
  TlsOptions client = tls.client_options();
  client.key_store = tls.key(identity, "of server 2");
  Outcome outcome = meet(tls.server_options(), client);
  EXPECT_TRUE(outcome.done);
  return std::move(outcome.pair);
}

constexpr OriginChecks kCertificates{.address = OriginCheck::kOff, .certificate = true};

TEST(PeerOrigins, ACertificateMustNameTheServerThatItsOwnerClaimsToBe) {
  World world;
  const PeerOrigins::Peers peers{{kOne, {{"zk1.example", 3888}, {"10.0.0.1", 3888}}},
                                 {kTwo, {{"zk2.example", 3888}, {"10.0.0.2", 3888}}}};
  PeerOrigins origins(world.resolver(), kCertificates, peers);
  for (const char* names : {"DNS:zk2.example", "IP:10.0.0.2", "DNS:other.example,DNS:zk2.example"}) {
    const StreamPair link = link_of(names);
    EXPECT_FALSE(origins.objection(kTwo, link.server, from("192.0.2.7"))) << names;
    EXPECT_TRUE(origins.objection(kOne, link.server, from("10.0.0.1"))) << names << ", from its address";
    EXPECT_FALSE(origins.objection(kThree, link.server, from("10.0.0.1"))) << "no member";
  }
  for (const char* names : {"DNS:zk2.example.evil.org", "DNS:example", "IP:10.0.0.3",
                            "URI:https://zk2.example", "email:root@zk2.example"}) {
    EXPECT_TRUE(origins.objection(kTwo, link_of(names).server, from("10.0.0.2"))) << names;
  }
  const auto objection = origins.objection(kOne, link_of("DNS:zk2.example").server, from("10.0.0.1"));
  EXPECT_EQ(objection.value_or(""),
            "it claims to be server 1, and its certificate does not name zk1.example or another host of that "
            "server (see quorum.peerCertificateCheck)");
}

TEST(PeerOrigins, ACertificateMayNameTheAddressOfAConfiguredName) {
  Names names;
  names.set("zk2.example", "10.0.0.2");
  World world(names.lookup());
  PeerOrigins origins(world.resolver(), kCertificates, {{kTwo, {{"zk2.example", 3888}}}});
  const StreamPair link = link_of("IP:10.0.0.2");
  EXPECT_TRUE(world.until([&] { return !origins.objection(kTwo, link.server, from("10.0.0.2")); }));
}

TEST(PeerOrigins, AfterAChangeOfMembershipTheCertificateMustNameTheNewHost) {
  World world;
  PeerOrigins origins(world.resolver(), kCertificates, {{kTwo, {{"zk2.example", 3888}}}});
  const StreamPair before = link_of("DNS:zk2.example");
  const StreamPair after = link_of("DNS:zk9.example");
  origins.set_peers({{kTwo, {{"zk2.example", 3888}, {"zk9.example", 3888}}}});
  EXPECT_FALSE(origins.objection(kTwo, before.server, from("10.0.0.2"))) << "the change is only proposed";
  EXPECT_FALSE(origins.objection(kTwo, after.server, from("10.0.0.2")));
  origins.set_peers({{kTwo, {{"zk9.example", 3888}}}});
  EXPECT_TRUE(origins.objection(kTwo, before.server, from("10.0.0.2")));
  EXPECT_FALSE(origins.objection(kTwo, after.server, from("10.0.0.2")));
}

TEST(PeerOrigins, AServersCertificateIsNotCheckedUnlessItIsConfigured) {
  World world;
  PeerOrigins origins(world.resolver(), {.address = OriginCheck::kStrict}, kLiterals);
  EXPECT_FALSE(origins.objection(kOne, link_of("IP:10.0.0.2").server, from("10.0.0.1")));
  PeerOrigins plain(world.resolver(), kCertificates, kLiterals);
  EXPECT_FALSE(plain.objection(kOne, Stream(), from("10.0.0.1"))) << "portUnification allows it";
}

}  // namespace
}  // namespace drover::net
