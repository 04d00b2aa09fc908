// SPDX-License-Identifier: Apache-2.0
#include "wire/quorum_auth.h"

#include <gtest/gtest.h>

#include "wire/testing.h"

namespace drover::wire {
namespace {

using testing::from_hex;

constexpr const char* kFirstHex = "5f2435013501edcc 00000000 00000000";

std::string auth_bytes(AuthStatus status, const Nullable& token) {
  std::string out;
  append_auth_packet(out, status, token);
  return out;
}

Decoded decode_auth_hex(const char* hex) {
  QuorumAuthPacket packet;
  return decode_auth_packet(from_hex(hex), packet).status;
}

// The first packet was captured from Java 3.8.0 with DIGEST-MD5.
TEST(QuorumAuthPacket, IsWrittenAsZooKeeperWritesIt) {
  EXPECT_EQ(auth_bytes(AuthStatus::kInProgress, ""), from_hex(kFirstHex));
  EXPECT_EQ(auth_bytes(AuthStatus::kSuccess, "ok"), from_hex("5f2435013501edcc 00000001 00000002 6f6b"));
  EXPECT_EQ(auth_bytes(AuthStatus::kError, std::nullopt), from_hex("5f2435013501edcc ffffffff ffffffff"));
}

TEST(QuorumAuthPacket, SurvivesEncodingWithEveryToken) {
  const std::string largest(kAuthTokenBytesMax, 't');
  for (const Nullable& token : {Nullable{}, Nullable{""}, Nullable{"token"}, Nullable{largest}}) {
    const std::string bytes = auth_bytes(AuthStatus::kInProgress, token) + "rest";
    QuorumAuthPacket packet;
    const DecodedAuth decoded = decode_auth_packet(bytes, packet);
    ASSERT_EQ(decoded.status, Decoded::kComplete);
    EXPECT_EQ(decoded.bytes, bytes.size() - 4);
    EXPECT_EQ(packet.token, token);
    EXPECT_EQ(packet.status, AuthStatus::kInProgress);
  }
}

TEST(QuorumAuthPacket, EveryPrefixOfAPacketNeedsMore) {
  const std::string bytes = auth_bytes(AuthStatus::kSuccess, "token");
  QuorumAuthPacket packet{.status = AuthStatus::kError};
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(decode_auth_packet(std::string_view(bytes).substr(0, n), packet).status, Decoded::kNeedMore);
  }
  EXPECT_EQ(packet.status, AuthStatus::kError) << "an incomplete packet changes nothing";
}

TEST(QuorumAuthPacket, WhatCannotBecomeAPacketIsBadAtOnce) {
  EXPECT_EQ(decode_auth_hex("00"), Decoded::kBad) << "one byte of another magic number";
  EXPECT_EQ(decode_auth_hex("5f2435013501edcd"), Decoded::kBad);
  EXPECT_EQ(decode_auth_hex("5f2435013501edcc 00000002"), Decoded::kBad) << "an unknown status";
  EXPECT_EQ(decode_auth_hex("5f2435013501edcc 00000000 fffffffe"), Decoded::kBad) << "a negative length";
  EXPECT_EQ(decode_auth_hex("5f2435013501edcc 00000000 00010001"), Decoded::kBad) << "a token above 64 KiB";
}

TEST(QuorumAuthPacket, OtherTrafficIsToldByItsFirstByte) {
  std::string follower_info;
  append_packet(follower_info, PacketType::kFollowerInfo, Zxid{0});
  std::string frame;
  Writer(frame).string(std::string(kNotificationBytesMax, 'n'));
  EXPECT_EQ(begins_with_auth(follower_info.substr(0, 1)), false);
  EXPECT_EQ(begins_with_auth(frame.substr(0, 1)), false);
  EXPECT_EQ(begins_with_auth(""), std::nullopt);
  EXPECT_EQ(begins_with_auth(from_hex(kFirstHex).substr(0, 7)), std::nullopt);
  EXPECT_EQ(begins_with_auth(from_hex(kFirstHex).substr(0, 8)), true);
}

}  // namespace
}  // namespace drover::wire
