// SPDX-License-Identifier: Apache-2.0
//
// The vectors were taken from the wire of Apache ZooKeeper 3.8.0.
#include "wire/quorum.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/testing.h"

namespace drover::wire {
namespace {

using testing::from_hex;
using testing::to_hex;
using testing::written;

const std::string kConfig =
    "server.1=127.0.0.1:23881:24881:participant\nserver.2=127.0.0.1:23882:24882:participant\n"
    "server.3=127.0.0.1:23883:24883:observer\nversion=0";
constexpr const char* kNotificationHex =
    "00000001 0000000000000002 0000000000000000 0000000000000001 0000000000000001 00000002 00000087";
constexpr const char* kInformHex =
    "00000008 0000000100000001 00000030 | 0100001a93bb0000 00000000 0000000100000001 0000018000000000"
    "fffffff6 | 00002710 | 00000002 0000000051c6d660 | ffffffff";

std::string packet_bytes(PacketType type, Zxid zxid, const Nullable& data = {}) {
  std::string out;
  append_packet(out, type, zxid, data);
  return out;
}

Decoded decode(std::string_view bytes, QuorumPacket& packet, const PacketLimits& limits = {}) {
  return decode_packet(bytes, limits, packet).status;
}

Decoded decode_hex(const char* hex, const PacketLimits& limits = {}) {
  QuorumPacket packet;
  return decode(from_hex(hex), packet, limits);
}

// --- packets ---

TEST(QuorumPacket, IsWrittenAsZooKeeperWritesIt) {
  EXPECT_EQ(packet_bytes(PacketType::kLeaderInfo, Zxid{0x1'0000'0000}, encode_int(kQuorumProtocolVersion)),
            from_hex("00000011 0000000100000000 00000004 00010000 ffffffff"));
  EXPECT_EQ(packet_bytes(PacketType::kUpToDate, Zxid{-1}),
            from_hex("0000000c ffffffffffffffff ffffffff ffffffff"));
  EXPECT_EQ(packet_bytes(PacketType::kSync, Zxid{0}),
            from_hex("00000007 0000000000000000 ffffffff ffffffff"));
}

TEST(QuorumPacket, IsReadAsZooKeeperWroteIt) {
  const std::string bytes = from_hex(kInformHex);
  QuorumPacket packet;
  packet.identities = {{"left", "over"}};
  const DecodedPacket decoded = decode_packet(bytes, {}, packet);
  ASSERT_EQ(decoded.status, Decoded::kComplete);
  EXPECT_EQ(decoded.bytes, bytes.size());
  EXPECT_EQ(packet.type, PacketType::kInform);
  EXPECT_EQ(packet.zxid, Zxid{0x1'0000'0001});
  EXPECT_EQ(packet.data, std::string_view(bytes).substr(16, 48));
  EXPECT_TRUE(packet.identities.empty());
}

TEST(QuorumPacket, NullAndEmptyDataStayDifferent) {
  for (const Nullable& data : {Nullable{}, Nullable{""}}) {
    const std::string bytes = packet_bytes(PacketType::kPing, Zxid{7}, data);
    QuorumPacket packet;
    ASSERT_EQ(decode(bytes, packet), Decoded::kComplete);
    EXPECT_EQ(packet.data, data);
  }
}

TEST(QuorumPacket, ARequestCarriesItsClientsIdentities) {
  const std::vector<Identity> identities = {{"ip", "10.0.0.1"}, {"digest", "u:p"}, {"", ""}};
  std::string bytes;
  append_request_packet(bytes, "body", identities);
  EXPECT_EQ(to_hex(bytes).substr(0, 24), "00000001ffffffffffffffff");
  QuorumPacket packet;
  ASSERT_EQ(decode(bytes, packet), Decoded::kComplete);
  EXPECT_EQ(packet.type, PacketType::kRequest);
  EXPECT_EQ(packet.data, "body");
  EXPECT_EQ(packet.identities, identities);
}

TEST(QuorumPacket, NullSchemeAndIdReadAsEmpty) {
  const std::string bytes = from_hex("00000001 ffffffffffffffff 00000000 00000001 ffffffff ffffffff");
  QuorumPacket packet;
  ASSERT_EQ(decode(bytes, packet), Decoded::kComplete);
  EXPECT_EQ(packet.identities, std::vector<Identity>(1));
}

TEST(QuorumPacket, ATruncatedPacketAsksForMoreBytesAndConsumesNothing) {
  std::string request;
  append_request_packet(request, "body", {{"ip", "10.0.0.1"}, {"digest", "u:p"}});
  for (const std::string& whole : {from_hex(kInformHex), request}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      QuorumPacket packet{PacketType::kTrunc, Zxid{5}, "old", {{"a", "b"}}};
      ASSERT_EQ(decode(std::string_view(whole).substr(0, length), packet), Decoded::kNeedMore) << length;
      EXPECT_EQ(packet.type, PacketType::kTrunc);
      EXPECT_EQ(packet.data, "old");
      EXPECT_EQ(packet.identities.size(), 1u);
    }
  }
}

TEST(QuorumPacket, PacketsFollowEachOtherWithoutSeparators) {
  std::string bytes = packet_bytes(PacketType::kProposal, Zxid{1}, "txn");
  append_packet(bytes, PacketType::kCommit, Zxid{1});
  QuorumPacket packet;
  const DecodedPacket first = decode_packet(bytes, {}, packet);
  EXPECT_EQ(packet.type, PacketType::kProposal);
  const DecodedPacket second = decode_packet(std::string_view(bytes).substr(first.bytes), {}, packet);
  EXPECT_EQ(packet.type, PacketType::kCommit);
  EXPECT_EQ(first.bytes + second.bytes, bytes.size());
}

TEST(QuorumPacket, AnImpossibleLengthIsRefusedImmediately) {
  const PacketLimits limits{.data_bytes_max = 16, .identities_max = 2, .identities_bytes_max = 8};
  // Data: too long, negative but not null.
  EXPECT_EQ(decode_hex("00000002 0000000000000001 00000010", limits), Decoded::kNeedMore);
  EXPECT_EQ(decode_hex("00000002 0000000000000001 00000011", limits), Decoded::kBad);
  EXPECT_EQ(decode_hex("00000002 0000000000000001 7fffffff", limits), Decoded::kBad);
  EXPECT_EQ(decode_hex("00000002 0000000000000001 fffffffe", limits), Decoded::kBad);
  // Identities: too many, negative but not null.
  EXPECT_EQ(decode_hex("00000001 0000000000000001 ffffffff 00000002", limits), Decoded::kNeedMore);
  EXPECT_EQ(decode_hex("00000001 0000000000000001 ffffffff 00000003", limits), Decoded::kBad);
  EXPECT_EQ(decode_hex("00000001 0000000000000001 ffffffff fffffffe", limits), Decoded::kBad);
  // A scheme, then an id: both count against the common limit.
  EXPECT_EQ(decode_hex("00000001 0000000000000001 ffffffff 00000001 00000009", limits), Decoded::kBad);
  EXPECT_EQ(decode_hex("00000001 0000000000000001 ffffffff 00000001 fffffffe", limits), Decoded::kBad);
  EXPECT_EQ(decode_hex("00000001 0000000000000001 ffffffff 00000001 00000002 6970 00000006", limits),
            Decoded::kNeedMore);
  EXPECT_EQ(decode_hex("00000001 0000000000000001 ffffffff 00000001 00000002 6970 00000007", limits),
            Decoded::kBad);
}

TEST(QuorumPacket, TheLargestTransactionWithTheMostIdentitiesFits) {
  // Every identity has two length fields besides its bytes.
  constexpr PacketLimits limits;
  constexpr std::size_t kFixedFields = 4 + 8 + 4 + 4;
  static_assert(kFixedFields + limits.data_bytes_max + 8 * limits.identities_max +
                    limits.identities_bytes_max <=
                kPacketBytesMax);
  static_assert(kRecordBytesMax <= kPacketBytesMax, "a snapshot's records come on the same link");
  static_assert(txn_bytes_max(0x7fffffff, 0x7fffffff) == kTxnBytesMax,
                "settings do not lift what readers take");
  static_assert(txn_bytes_max(0xfffff, 0xfffff) == 2 * 0xfffff, "what Java reads by default");
}

TEST(QuorumPacket, ManyShortIdentitiesFitLikeFewLongOnes) {
  // maxAuthIdsPerConnection=0 does not limit the number of identities, so only their bytes count.
  const std::vector<Identity> identities(20'000, Identity{"digest", "u:p"});
  std::string bytes;
  append_request_packet(bytes, "", identities);
  QuorumPacket packet;
  ASSERT_EQ(decode(bytes, packet), Decoded::kComplete);
  EXPECT_EQ(packet.identities, identities);
}

TEST(QuorumPacket, AnUnknownTypeIsAPacketWithoutAName) {
  for (const std::int32_t number : {0, -1, 20, 0x7fffffff}) {
    const std::string bytes = packet_bytes(static_cast<PacketType>(number), Zxid{1});
    QuorumPacket packet;
    ASSERT_EQ(decode(bytes, packet), Decoded::kComplete);
    EXPECT_EQ(name_of(packet.type), "?") << number;
  }
  EXPECT_EQ(name_of(PacketType::kRequest), "REQUEST");
  EXPECT_EQ(name_of(PacketType::kNewLeader), "NEWLEADER");
  EXPECT_EQ(name_of(PacketType::kInformAndActivate), "INFORMANDACTIVATE");
}

// --- data of packets ---

// Java's servers ignore bytes after the fields they know, so only our servers read the rest.
TEST(LearnerInfo, CarriesTheHistoryIdAfterTheFieldsThatJavaReads) {
  const std::string bytes = encode(LearnerInfo{.server = ServerId{3}, .history = 0x5f3a'9c01'77e4'0b21});
  EXPECT_EQ(bytes, from_hex("0000000000000003"
                            "00010000"
                            "0000000000000000"
                            "5f3a9c0177e40b21"));
  EXPECT_EQ(decode_learner_info(bytes)->history, 0x5f3a'9c01'77e4'0b21u);
  EXPECT_EQ(decode_learner_info(bytes.substr(0, 27))->history, 0u);
}

TEST(LeaderInfo, CarriesTheHistoryIdAfterTheFieldsThatJavaReads) {
  LeaderInfo info;
  info.history = {.id = 0x5f3a'9c01'77e4'0b21, .empty = false, .agreed = true};
  const std::string bytes = encode(info);
  EXPECT_EQ(bytes, from_hex("000100005f3a9c0177e40b2102"));
  const auto again = decode_leader_info(bytes);
  ASSERT_TRUE(again && again->history);
  EXPECT_EQ(again->protocol_version, kQuorumProtocolVersion);
  EXPECT_EQ(again->history->id, 0x5f3a'9c01'77e4'0b21u);
  EXPECT_FALSE(again->history->empty);
  EXPECT_TRUE(again->history->agreed);
  EXPECT_FALSE(decode_leader_info(from_hex("00010000"))->history) << "Java's";
  EXPECT_FALSE(decode_leader_info(bytes.substr(0, 12))->history);
  EXPECT_FALSE(decode_leader_info(from_hex("000100")));
  EXPECT_FALSE(decode_leader_info(std::nullopt));
}

TEST(LearnerInfo, IsTwentyBytesAndMayBeShorter) {
  const std::string bytes = encode(LearnerInfo{.server = ServerId{3}, .config_version = 0x1'0000'0002});
  EXPECT_EQ(bytes, from_hex("0000000000000003 00010000 0000000100000002"));
  const std::string_view all = bytes;
  EXPECT_FALSE(decode_learner_info(std::nullopt));
  for (std::size_t length = 0; length <= all.size(); ++length) {
    const auto info = decode_learner_info(all.substr(0, length));
    ASSERT_EQ(info.has_value(), length >= 8) << length;
    if (!info) continue;
    EXPECT_EQ(info->server, ServerId{3});
    EXPECT_EQ(info->protocol_version, length >= 12 ? kQuorumProtocolVersion : 1) << length;
    EXPECT_EQ(info->config_version, length >= 20 ? 0x1'0000'0002 : 0) << length;
  }
}

TEST(EpochData, IsOneInt) {
  EXPECT_EQ(encode_int(kQuorumProtocolVersion), from_hex("00010000"));
  EXPECT_EQ(encode(LeaderInfo{}), from_hex("00010000"));
  EXPECT_EQ(decode_int(encode_int(-1)), -1);
  EXPECT_FALSE(decode_int(std::nullopt));
  EXPECT_FALSE(decode_int(from_hex("000000")));
}

TEST(ForwardedRequest, IsTheClientsIdentityFollowedByItsBytes) {
  std::string bytes;
  append_forwarded(bytes, {SessionId{0x0100001a93bb0000}, 7, OpCode::kCreateSession, "body"});
  EXPECT_EQ(bytes, from_hex("0100001a93bb0000 00000007 fffffff6 626f6479"));
  const auto request = decode_forwarded(bytes);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->session, SessionId{0x0100001a93bb0000});
  EXPECT_EQ(request->cxid, 7);
  EXPECT_EQ(request->op, OpCode::kCreateSession);
  EXPECT_EQ(request->body, "body");
  EXPECT_TRUE(decode_forwarded(std::string_view(bytes).substr(0, 16))->body.empty());
  for (std::size_t length = 0; length < 16; ++length) {
    EXPECT_FALSE(decode_forwarded(std::string_view(bytes).substr(0, length))) << length;
  }
  EXPECT_FALSE(decode_forwarded(std::nullopt));
}

TEST(TouchedSessions, MustBeCompleteEntries) {
  std::string bytes;
  append_touched(bytes, {SessionId{1}, 4000});
  append_touched(bytes, {SessionId{-2}, 30000});
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const auto sessions = decode_touched(std::string_view(bytes).substr(0, length));
    ASSERT_EQ(sessions.has_value(), length % 12 == 0) << length;
    EXPECT_TRUE(!sessions || sessions->size() == length / 12);
  }
  EXPECT_EQ(decode_touched(bytes)->back().session, SessionId{-2});
  EXPECT_EQ(decode_touched(bytes)->back().timeout_ms, 30000);
  EXPECT_FALSE(decode_touched(std::nullopt));
}

TEST(Revalidation, IsAnsweredWithOneByte) {
  const std::string bytes = encode(Revalidated{SessionId{0x0100001a93bb0000}, true});
  EXPECT_EQ(bytes, from_hex("0100001a93bb0000 01"));
  EXPECT_TRUE(decode_revalidated(bytes)->valid);
  EXPECT_FALSE(decode_revalidated(from_hex("0100001a93bb0000 00"))->valid);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode_revalidated(std::string_view(bytes).substr(0, length))) << length;
  }
  EXPECT_FALSE(decode_revalidated(std::nullopt));
}

// --- notifications ---

TEST(Notification, IsWrittenAndReadAsZooKeeperDoes) {
  const std::string bytes = from_hex(kNotificationHex) + kConfig;
  ASSERT_EQ(bytes.size(), 179u);
  const auto n = decode_notification(bytes);
  ASSERT_TRUE(n);
  EXPECT_EQ(n->state, PeerState::kFollowing);
  EXPECT_EQ(n->leader, ServerId{2});
  EXPECT_EQ(n->zxid, Zxid{0});
  EXPECT_EQ(n->round, 1);
  EXPECT_EQ(n->peer_epoch, 1);
  EXPECT_EQ(n->version, 2);
  EXPECT_EQ(n->config, kConfig);
  std::string again;
  append_notification(again, *n);
  EXPECT_EQ(again, bytes);
}

TEST(Notification, CarriesAProposedMembershipBehindWhatJavaReads) {
  Notification n;
  n.config = "committed";
  std::string without;
  append_notification(without, n);
  EXPECT_EQ(decode_notification(without)->proposed, "");
  n.proposed = "proposed";
  std::string with;
  append_notification(with, n);
  EXPECT_TRUE(with.starts_with(without));
  EXPECT_EQ(decode_notification(with)->proposed, "proposed");
  EXPECT_EQ(decode_notification(with + "more")->proposed, "proposed");
  EXPECT_EQ(decode_notification(with.substr(0, with.size() - 1))->proposed, "");
}

TEST(Notification, With28BytesTakesTheEpochFromTheZxid) {
  const auto n = decode_notification(from_hex("00000000 0000000000000002 0000000500000007 0000000000000003"));
  ASSERT_TRUE(n);
  EXPECT_EQ(n->peer_epoch, 5);
  EXPECT_EQ(n->version, 0);
  EXPECT_EQ(decode_notification(from_hex("00000000 0000000000000002 ffffffffffffffff 0000000000000003"))
                ->peer_epoch,
            -1);
}

TEST(Notification, With40BytesAlwaysHasVersionZero) {
  const auto n = decode_notification(
      from_hex("00000002 0000000000000002 0000000500000007 0000000000000003 0000000000000004 00000002"));
  ASSERT_TRUE(n);
  EXPECT_EQ(n->peer_epoch, 4);
  EXPECT_EQ(n->version, 0);
}

TEST(Notification, VersionOneHasNoConfig) {
  const auto n = decode_notification(
      from_hex("00000002 0000000000000002 0000000500000007 0000000000000003 0000000000000004 00000001 ff"));
  ASSERT_TRUE(n);
  EXPECT_EQ(n->version, 1);
  EXPECT_TRUE(n->config.empty());
}

TEST(Notification, ATruncatedOneIsRejectedExceptAtTheOldLengths) {
  const std::string bytes = from_hex(kNotificationHex) + kConfig;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const bool old_form = length == 28 || length == 40;
    EXPECT_EQ(decode_notification(std::string_view(bytes).substr(0, length)).has_value(), old_form) << length;
  }
}

TEST(Notification, AWrongConfigLengthIsRefused) {
  const std::string head =
      from_hex("00000000 0000000000000002 0000000000000000 0000000000000001 0000000000000001 00000002");
  EXPECT_TRUE(decode_notification(head + from_hex("00000001 61")));
  EXPECT_TRUE(decode_notification(head + from_hex("00000000")));
  for (const char* length : {"00000002 61", "7fffffff 61", "ffffffff 61", "80000000 61"}) {
    EXPECT_FALSE(decode_notification(head + from_hex(length))) << length;
  }
  EXPECT_FALSE(decode_notification(std::string(kNotificationBytesMax + 1, '\0')));
}

TEST(Notification, AnUnknownStateIsRejected) {
  const std::string rest =
      from_hex("0000000000000002 0000000000000000 0000000000000001 0000000000000001 00000002 00000000");
  EXPECT_EQ(decode_notification(from_hex("00000003") + rest)->state, PeerState::kObserving);
  EXPECT_FALSE(decode_notification(from_hex("00000004") + rest));
  EXPECT_FALSE(decode_notification(from_hex("ffffffff") + rest));
}

// --- greetings ---

std::string hello_bytes(const ElectionHello& hello) {
  std::string out;
  append_hello(out, hello);
  return out;
}

std::string hello_of(std::string_view addresses) {
  return from_hex("ffffffffffff0001 0000000000000003") + written([&](Writer& w) { w.string(addresses); });
}

TEST(ElectionHello, ItsFormDependsOnTheNumberOfAddresses) {
  EXPECT_EQ(hello_bytes({ServerId{3}, {}}), from_hex("0000000000000003"));
  EXPECT_EQ(hello_bytes({ServerId{3}, {"a:1"}}),
            from_hex("ffffffffffff0000 0000000000000003 00000003 613a31"));
  EXPECT_EQ(hello_bytes({ServerId{3}, {"a:1", "[::1]:2"}}),
            from_hex("ffffffffffff0001 0000000000000003 0000000b 613a317c5b3a3a315d3a32"));
}

TEST(ElectionHello, RoundTripsAndReportsWhereTheFramesBegin) {
  for (const std::vector<std::string>& addresses :
       {std::vector<std::string>{}, {"zk1.example.org:3888"}, {"10.0.0.1:3888", "[fe80::1]:3888"}}) {
    const std::string bytes = hello_bytes({ServerId{3}, addresses});
    ElectionHello hello;
    const DecodedHello decoded = decode_hello(bytes + "next", hello);
    ASSERT_EQ(decoded.status, Decoded::kComplete);
    EXPECT_EQ(decoded.bytes, bytes.size());
    EXPECT_EQ(hello.server, ServerId{3});
    EXPECT_EQ(hello.addresses, addresses);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_EQ(decode_hello(std::string_view(bytes).substr(0, length), hello).status, Decoded::kNeedMore);
    }
  }
}

TEST(ElectionHello, AnUnknownVersionOrAnImpossibleLengthIsRefusedImmediately) {
  ElectionHello hello;
  for (const char* hex :
       {"ffffffffffffffff", "fffffffffffeffff", "8000000000000000",
        "ffffffffffff0000 0000000000000003 00000000", "ffffffffffff0000 0000000000000003 ffffffff",
        "ffffffffffff0000 0000000000000003 00000801", "ffffffffffff0001 0000000000000003 7fffffff"}) {
    EXPECT_EQ(decode_hello(from_hex(hex), hello).status, Decoded::kBad) << hex;
  }
  EXPECT_EQ(decode_hello(from_hex("ffffffffffff0000 0000000000000003 00000800"), hello).status,
            Decoded::kNeedMore);
}

TEST(ElectionHello, AnInvalidAddressIsRefused) {
  ElectionHello hello;
  for (const char* text : {"a", "a:", ":1", "a:x", "a:65536", "a:-1", "a:000001", "::1:3888", "[::1]", "[]:1",
                           "a:1||b:2", "|a:1", "a:1|b", "a:1 "}) {
    EXPECT_EQ(decode_hello(hello_of(text), hello).status, Decoded::kBad) << text;
  }
  for (const char* text : {"a:0", "a:65535", "a:1|", "a:1|b:2", "[::1]:3888", "|"}) {
    EXPECT_EQ(decode_hello(hello_of(text), hello).status, Decoded::kComplete) << text;
  }
}

TEST(ElectionHello, AddressesBeyondTheLimitAreOmitted) {
  const std::string exact = std::string(kHelloBytesMax - 2, 'a') + ":1";
  EXPECT_EQ(hello_bytes({ServerId{3}, {exact, "b:1"}}).size(), 20 + kHelloBytesMax);
  const std::string longest = std::string(1500, 'a') + ":1";
  ElectionHello hello;
  ASSERT_EQ(decode_hello(hello_bytes({ServerId{3}, {longest, longest, longest}}), hello).status,
            Decoded::kComplete);
  EXPECT_EQ(hello.addresses, std::vector<std::string>{longest});
}

}  // namespace
}  // namespace drover::wire
