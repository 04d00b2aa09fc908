// SPDX-License-Identifier: Apache-2.0
//
// Logins with SASL at the quorum port, and attacks of strangers on it.
#include "runtime/quorum_door.h"

#include <gtest/gtest.h>

#include <string>

#include "net/auth_test_support.h"
#include "wire/quorum.h"

namespace drover::server {
namespace {

using net::Refusal;
using net::testing::auth_packet;
using net::testing::SecretAcceptor;
using wire::AuthStatus;
using wire::PacketType;
using Kind = QuorumDoor::Verdict::Kind;

constexpr ServerId kMe{1};
constexpr ServerId kOther{2};
constexpr zab::LinkId kLink{7};
const std::string kHello = auth_packet(AuthStatus::kInProgress, "");
const std::string kProof = auth_packet(AuthStatus::kInProgress, "client:secret");
const std::string kGuess = auth_packet(AuthStatus::kInProgress, "client:guess");

std::string packet(PacketType type, const wire::Nullable& data) {
  std::string bytes;
  wire::append_packet(bytes, type, Zxid{0}, data);
  return bytes;
}
std::string greeting(ServerId from = kOther, PacketType type = PacketType::kFollowerInfo) {
  return packet(type, wire::encode(wire::LearnerInfo{from, wire::kQuorumProtocolVersion, 0, {}}));
}

zab::Memberships members() {
  zab::Membership all;
  for (const ServerId id : {kMe, kOther, ServerId{3}}) all.add({.id = id});
  all.add({.id = ServerId{4}, .type = zab::PeerType::kObserver});
  return zab::Memberships(all);
}

struct Door {
  explicit Door(bool has_sasl = true, bool required = true) {
    if (has_sasl) auth.acceptor = &acceptor;
    auth.required = required;
    door.add(kLink, Instant{0});
  }
  QuorumDoor::Verdict hear(std::string_view bytes) { return door.on_bytes(kLink, bytes, memberships, out); }

  SecretAcceptor acceptor;
  net::PeerAuth auth;
  zab::Memberships memberships = members();
  QuorumDoor door{host::LinkGuard(kMe, false, {.greeting_ms = 1000}), auth};
  std::string out;
};

// --- servers ---

TEST(QuorumDoor, AServerWithTheSecretIsAdmittedByItsGreeting) {
  for (const PacketType type : {PacketType::kFollowerInfo, PacketType::kObserverInfo}) {
    Door door;
    EXPECT_EQ(door.hear(kHello).kind, Kind::kWait);
    const auto verdict = door.hear(kProof + greeting(kOther, type));
    EXPECT_EQ(verdict.kind, Kind::kAdmit);
    EXPECT_EQ(verdict.server, kOther);
    EXPECT_EQ(verdict.consumed, kProof.size()) << "the greeting is for the leader";
    EXPECT_EQ(door.out, auth_packet(AuthStatus::kInProgress, "prove it") +
                            auth_packet(AuthStatus::kSuccess, "server:secret"));
  }
}

TEST(QuorumDoor, EverythingMayArriveByteByByte) {
  Door door;
  std::string pending;
  Kind kind = Kind::kWait;
  for (const char byte : kHello + kProof + greeting()) {
    ASSERT_EQ(kind, Kind::kWait);
    pending += byte;
    const auto verdict = door.hear(pending);
    pending.erase(0, verdict.consumed);
    kind = verdict.kind;
  }
  EXPECT_EQ(kind, Kind::kAdmit);
}

TEST(QuorumDoor, WithoutSaslTheGreetingComesFirst) {
  Door off(false, false);
  EXPECT_EQ(off.hear(greeting()).kind, Kind::kAdmit);
  Door not_required(true, false);
  EXPECT_EQ(not_required.hear(greeting()).kind, Kind::kAdmit);
  EXPECT_EQ(off.acceptor.started + not_required.acceptor.started, 0);
}

TEST(QuorumDoor, AServerThatAuthenticatesWhereSaslIsOffIsToldApart) {
  Door off(false, false);
  const auto verdict = off.hear(kHello);
  EXPECT_EQ(verdict.kind, Kind::kRefuse);
  EXPECT_NE(verdict.reason.find("quorum.auth.enableSasl"), std::string::npos) << verdict.reason;
}

// --- strangers ---

TEST(QuorumDoor, AStrangerIsRefusedWithEveryPacket) {
  for (int type = 0; type <= 20; ++type) {
    for (const std::string& before :
         {std::string(), kHello, kHello + kGuess, kGuess, auth_packet(AuthStatus::kSuccess, "client:secret"),
          auth_packet(AuthStatus::kError, "")}) {
      Door door;
      const std::string said = before + greeting(kOther, static_cast<PacketType>(type));
      const auto verdict = door.hear(said);
      EXPECT_EQ(verdict.kind, Kind::kRefuse) << type;
      EXPECT_EQ(verdict.refusal, Refusal::kCredentials) << type;
      EXPECT_TRUE(door.out.find("server:") == std::string::npos);
    }
  }
}

TEST(QuorumDoor, AStrangerWithoutAnExchangeIsRefusedByItsFirstByteAndCostsNone) {
  Door door;
  EXPECT_EQ(door.hear(std::string_view("\0", 1)).kind, Kind::kRefuse);
  EXPECT_EQ(door.acceptor.started, 0);
  EXPECT_EQ(door.out, "");
}

TEST(QuorumDoor, TheSecretIsNotEnoughForAServerThatIsNoMember) {
  for (const ServerId id : {kMe, ServerId{5}, ServerId{-1}}) {
    Door door;
    const auto verdict = door.hear(kHello + kProof + greeting(id));
    EXPECT_EQ(verdict.kind, Kind::kRefuse);
    EXPECT_EQ(verdict.refusal, Refusal::kNoMember);
  }
}

TEST(QuorumDoor, AnExchangeWithoutAGreetingTimesOut) {
  Door door;
  door.hear(kHello);
  EXPECT_TRUE(door.door.is_authenticating(kLink));
  EXPECT_EQ(door.door.next_time(), Instant{1000});
  EXPECT_EQ(door.door.late(Instant{1000}).size(), 1u);
  EXPECT_EQ(door.hear(kProof).kind, Kind::kWait);
  EXPECT_FALSE(door.door.is_authenticating(kLink));
  EXPECT_EQ(door.door.late(Instant{1000}).size(), 1u) << "one deadline for all";
  door.door.remove(kLink);
  EXPECT_FALSE(door.door.next_time());
}

}  // namespace
}  // namespace drover::server
