// SPDX-License-Identifier: Apache-2.0
#include "replica/session_password.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace drover::replica {
namespace {

std::string hex(std::int64_t id) {
  std::string text;
  for (const char c : session_password(SessionId{id})) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    text += digits;
  }
  return text;
}

// Vectors computed by the JDK's java.util.Random.
TEST(SessionPassword, IsWhatJavaComputes) {
  EXPECT_EQ(hex(0x1), "054cc74a37327db215e702e20c73f005");
  EXPECT_EQ(hex(0x100000000000000), "f22acd4a97e69d6d20a49bb638eadb38");
  EXPECT_EQ(hex(0x1000abcd1230000), "bfe6dcade00a07a535ad458629a6c6fd");
}

TEST(SessionPassword, OnlyTheRightOneIsAccepted) {
  const SessionId id{0x1000abcd1230000};
  const auto right = session_password(id);
  EXPECT_TRUE(is_session_password(id, {right.data(), right.size()}));
  auto wrong = right;
  wrong[15] ^= 1;
  EXPECT_FALSE(is_session_password(id, {wrong.data(), wrong.size()}));
  EXPECT_FALSE(is_session_password(id, {right.data(), 15}));
  EXPECT_FALSE(is_session_password(id, ""));
}

TEST(SessionPassword, SessionZeroHasNone) {
  const auto password = session_password(SessionId{0});
  EXPECT_FALSE(is_session_password(SessionId{0}, {password.data(), password.size()}));
}

}  // namespace
}  // namespace drover::replica
