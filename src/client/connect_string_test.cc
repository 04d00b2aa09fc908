// SPDX-License-Identifier: Apache-2.0
#include "client/connect_string.h"

#include <gtest/gtest.h>

#include "drover/error.h"
#include "drover/retry.h"

namespace drover::client {
namespace {

TEST(ConnectString, ContainsServersAndAChroot) {
  const auto parsed = parse_connect_string("zk1:2182, zk2,[::1]:2183,fe80::1/app/x");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->servers,
            (std::vector<ServerAddress>{{"zk1", 2182}, {"zk2", 2181}, {"::1", 2183}, {"fe80::1", 2181}}));
  EXPECT_EQ(parsed->chroot, "/app/x");
  EXPECT_EQ(parse_connect_string("a/")->chroot, "");
}

TEST(ConnectString, IsRefusedIfMalformed) {
  for (const char* text :
       {"", "/app", ":2181", "a:", "a:0", "a:99999", "a:x", "[::1", "[::1]x", "a/b//c", ","}) {
    EXPECT_FALSE(parse_connect_string(text)) << text;
  }
}

TEST(Errors, HaveAClassAndItsException) {
  EXPECT_EQ(class_of(Errc::kNoNode), ErrorClass::kState);
  EXPECT_EQ(class_of(Errc::kConnectionLoss), ErrorClass::kRecoverable);
  EXPECT_EQ(class_of(Errc::kSessionExpired), ErrorClass::kUnrecoverable);
  EXPECT_EQ(class_of(Errc::kDeadline), ErrorClass::kCancelled);
  EXPECT_THROW(unwrap(Result<int>(fail(Errc::kNoNode))), StateError);
  EXPECT_THROW(unwrap(Result<void>(fail(Errc::kClosed))), UnrecoverableError);
  EXPECT_THROW(unwrap(Result<int>(fail(Errc::kStopped))), Cancelled);
  EXPECT_THROW(unwrap(Result<int>(fail(Errc::kBadConfig))), UsageError);
  EXPECT_EQ(unwrap(Result<int>(3)), 3);
}

TEST(Errors, AreRetryableIfNotApplied) {
  EXPECT_TRUE((Error{Errc::kConnectionLoss, Applied::kNo}.is_retryable()));
  EXPECT_FALSE((Error{Errc::kConnectionLoss, Applied::kMaybe}.is_retryable()));
  EXPECT_FALSE((Error{Errc::kNoNode}.is_retryable()));
  EXPECT_EQ((Error{Errc::kConnectionLoss, Applied::kMaybe, "/a"}.to_text()),
            "ConnectionLoss (may have been applied): /a");
}

TEST(Retries, PauseLongerEachTimeUpToTheCap) {
  using std::chrono::milliseconds;
  const auto policy = RetryPolicy::exponential(milliseconds(10), milliseconds(35), 4);
  const std::uint64_t most = ~0ull;
  EXPECT_LE(*policy.pause_after(1, most), milliseconds(10));
  for (std::uint64_t random = 0; random < 1000; ++random) {
    EXPECT_LE(*policy.pause_after(3, random * 0x9E3779B97F4A7C15ull), milliseconds(35));
  }
  EXPECT_FALSE(policy.pause_after(4, 0));
  EXPECT_FALSE(RetryPolicy::none().pause_after(1, 0));
  EXPECT_EQ(RetryPolicy::times(2, milliseconds(7)).pause_after(1, 5), milliseconds(7));
  EXPECT_TRUE(RetryPolicy::until_deadline().pause_after(1'000'000, 0));
}

}  // namespace
}  // namespace drover::client
