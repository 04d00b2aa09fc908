// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/config_bundle.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "recipes/client_fault_testing.h"

namespace drover::recipes::testing {
namespace {

using Pieces = ConfigBundle::Pieces;
constexpr BundleMode kModes[] = {BundleMode::kPointer, BundleMode::kReady};

// All pieces have the same text, so that a mixture can be detected.
Pieces pieces(int number, int count = 4) {
  Pieces out;
  for (int i = 0; i < count; ++i) out["p" + std::to_string(i)] = std::to_string(number);
  return out;
}
void expect_whole(const Bundle& bundle) {
  const std::string& first = bundle.pieces.begin()->second;
  for (const auto& [name, data] : bundle.pieces) EXPECT_EQ(data, first) << name;
  EXPECT_EQ(bundle.pieces.size(), 4u);
}

TEST(ConfigBundle, ReadersGetTheWholeNewestVersion) {
  for (const BundleMode mode : kModes) {
    RecipeWorld world({.clients = 2});
    const ConfigBundle writer(world.client(0), "/app/c", mode);
    const ConfigBundle reader(world.client(1), "/app/c", mode);
    if (mode == BundleMode::kPointer) {
      EXPECT_EQ(world.get(reader.read()).error(), Errc::kNoNode);
    }
    ASSERT_TRUE(world.get(writer.publish(pieces(1))));
    auto bundle = world.get(reader.read());
    ASSERT_TRUE(bundle);
    EXPECT_EQ(bundle->pieces, pieces(1));
    const auto next = world.start(reader.next(*bundle));
    world.run_for(milliseconds(1000));
    EXPECT_FALSE(next->has_value());
    ASSERT_TRUE(world.get(writer.publish({{"other", "2"}})));
    ASSERT_TRUE(world.run_until([&] { return next->has_value(); }));
    EXPECT_EQ((*next)->value().pieces, (Pieces{{"other", "2"}}));
    EXPECT_GT((*next)->value().zxid, bundle->zxid);
  }
}

TEST(ConfigBundle, EmptyAndLargeBundlesWork) {
  for (const BundleMode mode : kModes) {
    RecipeWorld world({.clients = 1});
    const ConfigBundle config(world.client(0), "/c", mode);
    ASSERT_TRUE(world.get(config.publish({})));
    EXPECT_TRUE(world.get(config.read())->pieces.empty());
    Pieces large;
    for (int i = 0; i < 1200; ++i) large["p" + std::to_string(i)] = std::string(500, 'x');
    ASSERT_TRUE(world.get(config.publish(large)));
    EXPECT_EQ(world.get(config.read())->pieces, large);
  }
}

TEST(ConfigBundle, ReadersNeverSeeAMixture) {
  for (const BundleMode mode : kModes) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
      RecipeWorld world({.seed = seed, .servers = 3, .clients = 3});
      const ConfigBundle writer(world.client(0), "/c", mode);
      ASSERT_TRUE(world.get(writer.publish(pieces(0))));
      for (const std::size_t reader : {1, 2}) ASSERT_TRUE(world.get(world.client(reader).sync("/c")));
      for (int i = 1; i <= 15; ++i) {
        const auto published = world.start(writer.publish(pieces(i)));
        const auto one = world.start(ConfigBundle(world.client(1), "/c", mode).read());
        const auto two = world.start(ConfigBundle(world.client(2), "/c", mode).read());
        ASSERT_TRUE(
            world.run_until([&] { return published->has_value() && one->has_value() && two->has_value(); }));
        ASSERT_TRUE(published->value() && one->value() && two->value());
        expect_whole(one->value().value());
        expect_whole(two->value().value());
      }
      world.run_for(milliseconds(2000));
      if (mode == BundleMode::kPointer) {
        EXPECT_EQ(world.children("/c").size(), 3u);
      }
    }
  }
}

TEST(ConfigBundle, PublisherThatStopsAnywhereLeavesNoMixture) {
  for (const BundleMode mode : kModes) {
    for (int nth = 1; nth <= 12; ++nth) {
      SCOPED_TRACE(nth);
      RecipeWorld world({.clients = 2});
      const ConfigBundle writer(world.client(0), "/c", mode);
      ASSERT_TRUE(world.get(writer.publish(pieces(1))));
      std::stop_source stop;
      world.at_request(0, "", nth, [&] { stop.request_stop(); });
      const auto published = world.get(writer.publish(pieces(2), {}, Wait::forever(stop.get_token())));
      world.run_for(milliseconds(1000));
      const ConfigBundle reader(world.client(1), "/c", mode);
      const auto bundle = world.get(reader.read(Wait::within(milliseconds(1000))));
      if (bundle) {
        expect_whole(*bundle);
      } else {
        EXPECT_EQ(mode, BundleMode::kReady);  // nothing to read until the next complete publication
        EXPECT_EQ(bundle.error(), Errc::kDeadline);
      }
      if (published) {
        EXPECT_EQ(bundle->pieces, pieces(2));
      }
      ASSERT_TRUE(world.get(ConfigBundle(world.client(1), "/c", mode).publish(pieces(3))));
      EXPECT_EQ(world.get(reader.read())->pieces, pieces(3));
    }
  }
}

TEST(ConfigBundle, LostRequestsAndRepliesAreResolved) {
  for (const BundleMode mode : kModes) {
    for (int nth = 1; nth <= 10; ++nth) {
      for (const bool done : {true, false}) {
        SCOPED_TRACE(nth);
        RecipeWorld world({.clients = 2});
        const ConfigBundle writer(world.client(0), "/c", mode);
        ASSERT_TRUE(world.get(writer.publish(pieces(1))));
        if (done) world.lose_reply(0, "", nth);
        if (!done) world.lose_request(0, "", nth);
        ASSERT_TRUE(world.get(writer.publish(pieces(2))));
        EXPECT_EQ(world.get(ConfigBundle(world.client(1), "/c", mode).read())->pieces, pieces(2));
      }
    }
  }
}

TEST(ConfigBundle, ReadersSurviveEveryFault) {
  for (const BundleMode mode : kModes) {
    with_every_client_fault(2, [&](RecipeWorld& world, const ClientFault& fault) {
      const ConfigBundle writer(world.client(1), "/c", mode);
      const ConfigBundle reader(world.client(0), "/c", mode);
      ASSERT_TRUE(world.get(writer.publish(pieces(1))));
      const auto first = world.get(reader.read());
      ASSERT_TRUE(first);
      const auto next = world.start(reader.next(*first));
      fault.strike(world);
      const auto published = world.start(writer.publish(pieces(2)));
      world.run_for(milliseconds(1000));
      fault.heal(world);
      ASSERT_TRUE(world.run_until([&] { return published->has_value(); }));
      if (!(*published)->has_value()) return;
      world.run_for(milliseconds(15'000));
      ASSERT_TRUE(next->has_value());
      ASSERT_TRUE((*next)->has_value());
      EXPECT_EQ((*next)->value().pieces, pieces(2));
    });
  }
}

TEST(ConfigBundle, FencedPublisherPublishesNothing) {
  for (const BundleMode mode : kModes) {
    RecipeWorld world({.clients = 1});
    OtherClient(world, 0).put("/leader");
    const ConfigBundle config(world.client(0), "/c", mode);
    const PublishOptions fenced{.fence = {Op::check("/leader")}};
    ASSERT_TRUE(world.get(config.publish(pieces(1), fenced)));
    OtherClient(world, 0).remove("/leader");
    EXPECT_EQ(world.get(config.publish(pieces(2), fenced)).error(), Errc::kNoNode);
    world.run_for(milliseconds(1000));
    EXPECT_EQ(world.get(config.read())->pieces, pieces(1));
    if (mode == BundleMode::kPointer) {
      EXPECT_EQ(world.children("/c").size(), 2u);  // Its incomplete version was removed.
    }
  }
}

// A publisher pauses after any of its requests while another one publishes everything, and then continues.
TEST(ConfigBundle, OvertakenPublisherDoesNotWriteUnderItsSuccessorsReady) {
  for (const bool fenced : {false, true}) {
    for (int nth = 1; nth <= 8; ++nth) {
      SCOPED_TRACE(nth);
      RecipeWorld world({.clients = 3});
      OtherClient(world, 1).put("/leader", "old");
      const auto fence = [&] {
        return PublishOptions{.fence = fenced
                                           ? std::vector{Op::check("/leader", world.stat("/leader")->version)}
                                           : std::vector<Op>{}};
      };
      Pieces large;
      for (int i = 0; i < 1200; ++i) large["p" + std::to_string(i)] = "old";
      const ConfigBundle next(world.client(1), "/c", BundleMode::kReady);
      ASSERT_TRUE(world.get(next.publish(pieces(1), fence())));
      world.at_request(0, "", nth, [&] { world.cut(0); });
      const auto old =
          world.start(ConfigBundle(world.client(0), "/c", BundleMode::kReady).publish(large, fence()));
      world.run_for(milliseconds(1000));
      OtherClient(world, 1).set("/leader", "new");
      ASSERT_TRUE(world.get(next.publish(pieces(2), fence())));
      world.heal(0);
      world.run_for(milliseconds(10'000));
      ASSERT_TRUE(old->has_value());
      const auto read = world.get(ConfigBundle(world.client(2), "/c", BundleMode::kReady).read());
      ASSERT_TRUE(read);
      EXPECT_TRUE(read->pieces == pieces(2) || read->pieces == large) << read->pieces.size();
      if (fenced && !world.has_traps(0)) {
        EXPECT_EQ(read->pieces, pieces(2));
      }
    }
  }
}

// A publisher that is slow but connected gets an error and stops writing.
TEST(ConfigBundle, OvertakenPublisherOfReadyGetsAnError) {
  RecipeWorld world({.clients = 3});
  ASSERT_TRUE(world.get(ConfigBundle(world.client(1), "/c", BundleMode::kReady).publish(pieces(1))));
  Pieces large;
  for (int i = 0; i < 3000; ++i) large["p" + std::to_string(i)] = "old";
  const auto first = world.start(ConfigBundle(world.client(0), "/c", BundleMode::kReady).publish(large));
  ASSERT_TRUE(world.run_until([&] { return !world.exists("/c/ready"); }));
  const auto other = world.start(ConfigBundle(world.client(1), "/c", BundleMode::kReady).publish(pieces(2)));
  ASSERT_TRUE(world.run_until([&] { return first->has_value() && other->has_value(); }));
  EXPECT_EQ((*first)->error(), Errc::kBadVersion);
  EXPECT_TRUE((*other)->has_value());
  EXPECT_EQ(world.get(ConfigBundle(world.client(2), "/c", BundleMode::kReady).read())->pieces, pieces(2));
}

// It has fewer pieces than announced: a client is removing it, because there is a newer version.
TEST(ConfigBundle, VersionThatIsBeingRemovedIsNotRead) {
  RecipeWorld world({.clients = 2});
  OtherClient other(world, 1);
  other.put("/c/v-0000000000", "4");
  other.put("/c/v-0000000000/p0", "0");
  other.put("/c/current", "v-0000000000");
  const auto read = world.start(ConfigBundle(world.client(0), "/c").read());
  world.run_for(milliseconds(200));
  EXPECT_FALSE(read->has_value());
  ASSERT_TRUE(world.get(ConfigBundle(world.client(1), "/c").publish(pieces(1))));
  ASSERT_TRUE(world.run_until([&] { return read->has_value(); }));
  EXPECT_EQ((*read)->value().pieces, pieces(1));
}

TEST(ConfigBundle, OneOfTwoConcurrentPublishersGetsAnError) {
  RecipeWorld world({.servers = 3, .clients = 2});
  const auto one = world.start(ConfigBundle(world.client(0), "/c").publish(pieces(1)));
  const auto two = world.start(ConfigBundle(world.client(1), "/c").publish(pieces(2)));
  ASSERT_TRUE(world.run_until([&] { return one->has_value() && two->has_value(); }));
  const int done = (*one)->has_value() + (*two)->has_value();
  EXPECT_GE(done, 1);
  for (const auto& each : {one, two}) {
    if (!(*each)->has_value()) {
      EXPECT_EQ((*each)->error(), Errc::kBadVersion);
    }
  }
  world.run_for(milliseconds(1000));
  expect_whole(*world.get(ConfigBundle(world.client(0), "/c").read()));
}

}  // namespace
}  // namespace drover::recipes::testing
