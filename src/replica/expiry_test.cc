// SPDX-License-Identifier: Apache-2.0
#include "replica/expiry.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace drover::replica {
namespace {

constexpr std::int64_t kTick = 100;

TEST(Expiry, ASessionEndsAfterItsTimeoutAndAtMostATickLater) {
  for (std::int64_t heard = 0; heard < 3 * kTick; heard += 7) {
    for (const std::int32_t timeout : {1, 99, 100, 101, 250}) {
      Expiry expiry(kTick);
      expiry.set(SessionId{1}, timeout, Instant{heard});
      std::int64_t ended = -1;
      for (std::int64_t t = heard; ended < 0; ++t) {
        if (!expiry.expired(Instant{t}).empty()) ended = t;
      }
      EXPECT_GT(ended, heard + timeout);
      EXPECT_LE(ended, heard + timeout + kTick);
      EXPECT_EQ(expiry.size(), 0u);
    }
  }
}

TEST(Expiry, ATouchOnlyExtendsTheDeadline) {
  Expiry expiry(kTick);
  expiry.set(SessionId{1}, 200, Instant{0});
  expiry.touch(SessionId{1}, Instant{1000});
  expiry.touch(SessionId{1}, Instant{500});  // a late report
  EXPECT_TRUE(expiry.expired(Instant{1200}).empty());
  EXPECT_EQ(expiry.expired(Instant{1300}), std::vector<SessionId>{SessionId{1}});
  expiry.touch(SessionId{1}, Instant{2000});
  EXPECT_EQ(expiry.size(), 0u) << "the unknown are not brought back by a touch";
}

TEST(Expiry, AReconnectMayShortenTheTimeout) {
  Expiry expiry(kTick);
  expiry.set(SessionId{1}, 10'000, Instant{0});
  expiry.set(SessionId{1}, 100, Instant{50});
  EXPECT_EQ(expiry.expired(Instant{300}).size(), 1u);
  EXPECT_TRUE(expiry.expired(Instant{20'000}).empty()) << "and it ends once";
}

TEST(Expiry, ASessionThatWasClosedDoesNotExpire) {
  Expiry expiry(kTick);
  expiry.set(SessionId{1}, 100, Instant{0});
  expiry.remove(SessionId{1});
  EXPECT_TRUE(expiry.expired(Instant{10'000}).empty());
}

TEST(Expiry, ReportsWhenEachSessionWouldExpire) {
  Expiry expiry(kTick);
  expiry.set(SessionId{1}, 100, Instant{0});
  expiry.set(SessionId{2}, 100, Instant{50});
  expiry.set(SessionId{3}, 1000, Instant{0});
  const auto ends = expiry.by_deadline();
  EXPECT_EQ(ends.at(200).size(), 2u);
  EXPECT_EQ(ends.at(1100), std::vector<SessionId>{SessionId{3}});
}

TEST(Expiry, RepeatedReconnectsUseNoMemory) {
  Expiry expiry(kTick);
  for (std::int64_t t = 0; t < 100'000; t += 10) {
    expiry.set(SessionId{1}, 1000 + static_cast<std::int32_t>(t % 700), Instant{t});
    EXPECT_TRUE(expiry.expired(Instant{t}).empty());
  }
  EXPECT_LE(expiry.bucket_entries(), 20u);
}

TEST(Expiry, AgreesWithAModelOfDeadlines) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Expiry expiry(kTick);
    std::map<std::int64_t, std::pair<std::int32_t, std::int64_t>> model;  // session -> timeout, last heard
    std::int64_t now = 0;
    for (int step = 0; step < 500; ++step) {
      now += static_cast<std::int64_t>(random.below(60));
      const auto session = static_cast<std::int64_t>(1 + random.below(10));
      switch (random.below(5)) {
        case 0: {
          const auto timeout = static_cast<std::int32_t>(50 + random.below(500));
          expiry.set(SessionId{session}, timeout, Instant{now});
          model[session] = {timeout, now};
          break;
        }
        case 1:
          expiry.remove(SessionId{session});
          model.erase(session);
          break;
        case 2:
          expiry.touch(SessionId{session}, Instant{now});
          if (model.contains(session)) model[session].second = now;
          break;
        default:
          for (const SessionId ended : expiry.expired(Instant{now})) {
            ASSERT_TRUE(model.contains(raw(ended)));
            const auto [timeout, heard] = model.at(raw(ended));
            EXPECT_GT(now, heard + timeout) << "too early, seed " << seed;
            model.erase(raw(ended));
          }
          for (const auto& [left, lease] : model) {
            EXPECT_LT(now, lease.second + lease.first + kTick + 1) << "too late, seed " << seed;
          }
      }
      ASSERT_EQ(expiry.size(), model.size());
    }
  }
}

}  // namespace
}  // namespace drover::replica
