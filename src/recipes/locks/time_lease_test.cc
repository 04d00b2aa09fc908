// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/time_lease.h"

#include <gtest/gtest.h>

#include "recipes/locks/lease_data.h"
#include "recipes/testing.h"

namespace drover::recipes {
namespace {

using namespace testing;  // NOLINT: test helpers
using std::chrono::seconds;
using std::chrono::system_clock;

const std::string kPath = "/leases/nightly";
const std::string kNode = kPath + "/lease_holder";

TEST(LeaseData, MatchesKazoosText) {
  const std::string text = R"({"version": 1, "holder": "host-7", "end": "2026-11-15T18:46:36"})";
  const auto lease = decode_lease(text);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->holder, "host-7");
  EXPECT_EQ(lease->end.time_since_epoch().count(), 1794768396);
  EXPECT_EQ(encode_lease(*lease), text);
}

TEST(LeaseData, RoundTripsAnyHolder) {
  for (const std::string holder : {"", "a\"b\\c", "line\nbreak", "h\xc3\xa9"}) {
    const auto lease = decode_lease(encode_lease({holder, {}}));
    ASSERT_TRUE(lease) << holder;
    EXPECT_EQ(lease->holder, holder);
  }
  EXPECT_EQ(decode_lease(R"({"end": "2026-01-01T00:00:00", "holder": "h\u00e9", "version": 1})")->holder,
            "h\xc3\xa9");
}

TEST(LeaseData, OtherTextIsRefused) {
  for (const char* text :
       {"", "{", "{}", "null", R"({"version": 2, "holder": "a", "end": "2026-11-15T18:46:36"})",
        R"({"version": 1, "holder": "a"})", R"({"version": 1, "holder": "a", "end": "2026-13-15T18:46:36"})",
        R"({"version": 1, "holder": "a", "end": "2026-11-15T18:46:36"} x)",
        R"({"version": 1, "holder": ["a"], "end": "2026-11-15T18:46:36"})",
        R"({"version": 1, "holder": "\u12)"})
    EXPECT_FALSE(decode_lease(text)) << text;
}

// The time of day on the servers.
class TimeLeases : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(world.get(world.client(0).create("/clock")));
    offset_ = world.stat("/clock")->mtime_ms - world.now().count();
  }
  TimeLease lease(std::size_t i, const std::string& holder, milliseconds wrong = milliseconds(0)) {
    TimeLeaseOptions options;
    options.now = [this, wrong] {
      return system_clock::time_point(milliseconds(offset_) + world.now() + wrong);
    };
    return TimeLease(world.client(i), kPath, holder, seconds(60), options);
  }
  bool take(std::size_t i, const std::string& holder) {
    return world.get(lease(i, holder).acquire()).value();
  }

  RecipeWorld world{{.clients = 2}};
  std::int64_t offset_ = 0;
};

TEST_F(TimeLeases, OneHolderUntilTheLeaseEnds) {
  EXPECT_TRUE(take(0, "a"));
  EXPECT_FALSE(take(1, "b"));
  world.run_for(seconds(50));
  EXPECT_FALSE(take(1, "b"));
  world.run_for(seconds(12));
  EXPECT_TRUE(take(1, "b"));
  EXPECT_FALSE(take(0, "a"));
  EXPECT_EQ(world.get(lease(0, "a").holder()).value()->name, "b");
}

TEST_F(TimeLeases, HolderRenewsByAskingAgain) {
  EXPECT_TRUE(take(0, "a"));
  const auto first = world.get(lease(0, "a").holder()).value()->end;
  for (int i = 0; i < 3; ++i) {
    world.run_for(seconds(50));
    EXPECT_TRUE(take(0, "a"));
  }
  EXPECT_FALSE(take(1, "b"));
  EXPECT_EQ(world.get(lease(0, "a").holder()).value()->end - first, seconds(150));
}

TEST_F(TimeLeases, OutliveTheSession) {
  EXPECT_TRUE(take(0, "a"));
  world.kill_session(0);
  world.run_for(seconds(5));
  EXPECT_FALSE(take(1, "b"));
  EXPECT_TRUE(take(1, "a")) << "the same holder, after a restart";
}

TEST_F(TimeLeases, CanBeGivenUp) {
  EXPECT_TRUE(take(0, "a"));
  ASSERT_TRUE(world.get(lease(1, "b").give_up())) << "which is not b's";
  EXPECT_FALSE(take(1, "b"));
  ASSERT_TRUE(world.get(lease(0, "a").give_up()));
  EXPECT_TRUE(take(1, "b"));
}

TEST_F(TimeLeases, WrongClockCannotTakeALease) {
  const auto refused = world.get(lease(0, "a", seconds(30)).acquire());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::kStale);
  EXPECT_TRUE(take(1, "b"));
  // By a clock that is ahead, the lease has ended.
  EXPECT_EQ(world.get(lease(0, "a", seconds(90)).acquire()).error(), Errc::kStale);
  EXPECT_EQ(world.get(lease(0, "a").holder()).value()->name, "b");
}

TEST_F(TimeLeases, WrongClockCannotRenewALease) {
  EXPECT_TRUE(take(0, "a"));
  const auto end = world.get(lease(0, "a").holder()).value()->end;
  EXPECT_EQ(world.get(lease(0, "a", seconds(30)).acquire()).error(), Errc::kStale);
  EXPECT_EQ(world.get(lease(0, "a").holder()).value()->end, end);
}

TEST_F(TimeLeases, DataOfTheDirectoryIsNotChanged) {
  ASSERT_TRUE(world.get(world.client(1).create(kPath, "about the job", {.parents = true})));
  EXPECT_TRUE(take(0, "a"));
  EXPECT_EQ(world.data(kPath), "about the job");
}

TEST_F(TimeLeases, InvalidLeaseDataIsNotChanged) {
  ASSERT_TRUE(world.get(world.client(0).create(kNode, "something", {.parents = true})));
  EXPECT_EQ(world.get(lease(0, "a").acquire()).error(), Errc::kBadData);
  EXPECT_EQ(world.data(kNode), "something");
}

TEST_F(TimeLeases, OneOfManyConcurrentClientsGetsIt) {
  std::vector<std::shared_ptr<std::optional<Result<bool>>>> all;
  for (int i = 0; i < 10; ++i)
    all.push_back(world.start(lease(static_cast<std::size_t>(i) % 2, "h" + std::to_string(i)).acquire()));
  world.run_for(seconds(2));
  int got = 0;
  for (const auto& each : all) {
    ASSERT_TRUE(succeeded(each));
    got += (*each)->value() ? 1 : 0;
  }
  EXPECT_EQ(got, 1);
}

TEST(TimeLease, SurvivesEveryFaultAtEveryMessage) {
  with_every_fault({.clients = 2}, [](RecipeWorld& world, const Fault&) {
    ASSERT_TRUE(world.get(world.client(1).create("/clock")));
    const std::int64_t offset = world.stat("/clock")->mtime_ms - world.now().count();
    TimeLeaseOptions options;
    options.now = [&] { return system_clock::time_point(milliseconds(offset) + world.now()); };
    const TimeLease mine(world.client(0), kPath, "a", seconds(60), options);
    const TimeLease theirs(world.client(1), kPath, "b", seconds(60), options);
    const auto taken = world.get(mine.acquire());
    // If the session ends meanwhile, the caller gets an error and may ask again.
    ASSERT_TRUE(taken || taken.error() == Errc::kSessionExpired);
    ASSERT_TRUE(taken || world.get(mine.acquire()) == true);
    EXPECT_EQ(world.get(theirs.acquire()), false);
    const auto given_up = world.get(mine.give_up());
    ASSERT_TRUE(given_up || given_up.error() == Errc::kSessionExpired);
    ASSERT_TRUE(given_up || world.get(mine.give_up()));
    EXPECT_EQ(world.get(theirs.acquire()), true);
  });
}

}  // namespace
}  // namespace drover::recipes
