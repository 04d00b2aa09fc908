// SPDX-License-Identifier: Apache-2.0
#include "zab/history.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "zab/testing.h"

namespace drover::zab {
namespace {

using testing::batch;
using testing::entry;
using testing::history;
using testing::Story;
using testing::text;
using testing::zx;
using testing::zxids_in;

TEST(History, ATransactionFollowsThePreviousOneOrBeginsALaterEpoch) {
  EXPECT_TRUE(follows(zx(5, 2), zx(5, 1)));
  EXPECT_TRUE(follows(zx(6, 1), zx(5, 7)));
  EXPECT_TRUE(follows(zx(9, 4), zx(5, 7)));  // It may be the first of an epoch that we got.
  EXPECT_FALSE(follows(zx(5, 3), zx(5, 1)));
  EXPECT_FALSE(follows(zx(5, 1), zx(5, 1)));
  EXPECT_FALSE(follows(zx(4, 9), zx(5, 1)));
  EXPECT_FALSE(follows(Zxid{-1}, zx(0, 1)));
}

TEST(HistoryDeath, AHoleAborts) {
  zab::History h = history(zx(5, 1), {zx(5, 2)});
  EXPECT_DEATH(h.append(batch({zx(5, 4)})), "a history has no holes");
  EXPECT_DEATH(h.append(batch({zx(5, 2)})), "a history has no holes");
  EXPECT_DEATH(h.append(batch({})), "a history has no holes");
}

TEST(HistoryDeath, CommittedTransactionsStayCommittedAndWereLogged) {
  zab::History h = history(zx(5, 0), {zx(5, 1), zx(5, 2)});
  EXPECT_DEATH(h.set_committed(zx(5, 3)), "only logged transactions are committed");
  EXPECT_DEATH(h.set_committed(zx(5, 1)), "committed transactions stay committed");
}

TEST(History, AppendedTransactionsAreNeitherDurableNorCommittedYet) {
  zab::History h = history(zx(5, 0), {zx(5, 1)});
  h.append(batch({zx(5, 2), zx(5, 3)}));
  EXPECT_EQ(h.last(), zx(5, 3));
  EXPECT_EQ(h.durable(), zx(5, 1));
  EXPECT_EQ(h.committed(), zx(5, 1));

  h.set_durable(zx(5, 2));
  EXPECT_EQ(h.durable(), zx(5, 2));
  h.set_durable(zx(5, 1));  // Answers may cross; durable does not go back by itself.
  EXPECT_EQ(h.durable(), zx(5, 2));
  h.set_committed(zx(5, 3));
  EXPECT_EQ(h.committed(), zx(5, 3));
  EXPECT_EQ(h.durable(), zx(5, 2));
}

TEST(History, APendingSyncOfTruncatedTransactionsMakesNothingDurable) {
  zab::History h = history(zx(5, 0), {zx(5, 1)});
  h.append(batch({zx(5, 2), zx(5, 3)}));
  h.truncate(zx(5, 1));
  h.set_durable(zx(5, 3));
  EXPECT_EQ(h.durable(), zx(5, 1));
}

TEST(History, TruncationCutsInsideABatchAndLowersEveryMark) {
  zab::History h(WindowLimits{});
  h.begin_at(zx(4, 7));
  h.append(batch({zx(5, 1), zx(5, 2), zx(5, 3)}));
  h.append(batch({zx(5, 4)}));
  h.set_durable(zx(5, 4));
  h.set_committed(zx(5, 4));
  h.set_applied(zx(5, 4));

  h.truncate(zx(5, 2));
  EXPECT_EQ(zxids_in(h), (Story{"5.1", "5.2"}));
  for (const Zxid mark : {h.last(), h.durable(), h.committed(), h.applied()}) EXPECT_EQ(mark, zx(5, 2));

  h.truncate(zx(4, 7));
  EXPECT_EQ(zxids_in(h), Story{});
  EXPECT_EQ(h.last(), zx(4, 7));
  h.append(batch({zx(6, 1)}));  // and it continues from there
  EXPECT_EQ(zxids_in(h), Story{"6.1"});
}

TEST(HistoryDeath, TruncationBeforeTheWindowAborts) {
  zab::History h = history(zx(5, 3), {zx(5, 4)});
  EXPECT_DEATH(h.truncate(zx(5, 2)), "truncation stays within the window");
}

TEST(History, AWindowContainsItsTransactionsAndItsPredecessor) {
  zab::History h(WindowLimits{});
  h.begin_at(zx(5, 3));
  h.append(batch({zx(5, 4), zx(5, 5), zx(7, 1), zx(7, 2)}));  // one batch, two epochs
  for (const Zxid there : {zx(5, 3), zx(5, 4), zx(5, 5), zx(7, 1), zx(7, 2)}) {
    EXPECT_TRUE(h.contains(there)) << text(there);
  }
  for (const Zxid none : {zx(5, 2), zx(5, 6), zx(6, 0), zx(6, 1), zx(7, 0), zx(7, 3), Zxid{-1}}) {
    EXPECT_FALSE(h.contains(none)) << text(none);
  }
  EXPECT_EQ(h.at_or_before(zx(6, 1)), zx(5, 5));
  EXPECT_EQ(h.at_or_before(zx(9, 0)), zx(7, 2));
  EXPECT_EQ(h.at_or_before(zx(1, 1)), zx(5, 3));
}

TEST(History, FindsThePredecessorOfTheFirstTransactionOfAnEpoch) {
  const zab::History h = history(zx(5, 3), {zx(5, 4), zx(7, 1), zx(7, 2)});
  Zxid before{};
  EXPECT_TRUE(h.first_of_epoch(7, before));
  EXPECT_EQ(before, zx(5, 4));
  EXPECT_FALSE(h.first_of_epoch(6, before));
  EXPECT_FALSE(h.first_of_epoch(8, before));
}

TEST(History, OldTransactionsAreForgottenByCountAndByBytes) {
  zab::History few = history(zx(5, 0), {}, {.txns = 3, .bytes = 1 << 20});
  for (std::uint32_t i = 1; i <= 10; ++i) few.replay(zx(5, i), entry(zx(5, i)));
  EXPECT_EQ(zxids_in(few), (Story{"5.8", "5.9", "5.10"}));
  EXPECT_EQ(few.window_begin(), zx(5, 7));

  zab::History small = history(zx(5, 0), {}, {.txns = 100, .bytes = 100});
  const std::string large(90, 'x');
  for (std::uint32_t i = 1; i <= 3; ++i) small.replay(zx(5, i), entry(zx(5, i), large));
  EXPECT_EQ(zxids_in(small), Story{"5.3"});
}

TEST(History, OnlyCommittedDurableAndAppliedTransactionsAreForgotten) {
  zab::History h = history(zx(5, 0), {}, {.txns = 1, .bytes = 1 << 20});
  for (std::uint32_t i = 1; i <= 5; ++i) h.append(batch({zx(5, i)}));
  EXPECT_EQ(h.window_begin(), zx(5, 0));
  h.set_durable(zx(5, 5));
  h.set_committed(zx(5, 4));
  EXPECT_EQ(h.window_begin(), zx(5, 0));
  h.set_applied(zx(5, 2));
  EXPECT_EQ(h.window_begin(), zx(5, 2));
  h.set_applied(zx(5, 4));
  EXPECT_EQ(h.window_begin(), zx(5, 4));
}

TEST(History, TransactionsThatALearnerNeedsAreKeptDespiteTheLimits) {
  zab::History h = history(zx(5, 0), {zx(5, 1)}, {.txns = 1, .bytes = 1 << 20});
  h.keep_after(zx(5, 1));
  for (std::uint32_t i = 2; i <= 6; ++i) h.replay(zx(5, i), entry(zx(5, i)));
  EXPECT_EQ(h.window_begin(), zx(5, 1));
  h.keep_after(std::nullopt);
  EXPECT_EQ(h.window_begin(), zx(5, 5));
}

TEST(History, ASnapshotReplacesEverything) {
  zab::History h = history(zx(5, 0), {zx(5, 1), zx(5, 2)});
  h.begin_at(zx(6, 9));
  EXPECT_EQ(zxids_in(h), Story{});
  for (const Zxid mark : {h.window_begin(), h.last(), h.durable(), h.committed(), h.applied()}) {
    EXPECT_EQ(mark, zx(6, 9));
  }
}

// --- against a plain list of zxids ---

struct Model {
  std::vector<Zxid> zxids;  // of the whole history, including the beginning

  Zxid at_or_before(Zxid zxid, Zxid floor) const {
    Zxid found = floor;
    for (const Zxid each : zxids) {
      if (each > floor && each <= zxid) found = each;
    }
    return found;
  }
};

Zxid random_next(Zxid last, Random& random) {
  if (random.below(4) != 0) return next(last);
  return zx(epoch_of(last) + 1 + static_cast<std::uint32_t>(random.below(2)), 1);
}

TEST(History, BehavesLikeAPlainListOfTransactions) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    zab::History h(WindowLimits{.txns = 8, .bytes = 1 << 20});
    Model model{{zx(1, 0)}};
    h.begin_at(zx(1, 0));
    for (int step = 0; step < 60; ++step) {
      if (random.below(5) == 0 && h.last() > h.window_begin()) {
        std::vector<Zxid>& all = model.zxids;
        do all.pop_back();
        while (all.back() > h.window_begin() && random.below(2) == 0);
        h.truncate(all.back());
      } else {
        std::vector<Zxid> zxids;
        for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
          zxids.push_back(random_next(zxids.empty() ? h.last() : zxids.back(), random));
        }
        h.append(batch(zxids));
        model.zxids.insert(model.zxids.end(), zxids.begin(), zxids.end());
      }
      if (random.below(2) == 0) {
        h.set_durable(h.last());
        h.set_committed(h.last());
        h.set_applied(h.last());
      }
      ASSERT_EQ(h.last(), model.zxids.back());
      const Zxid probe = zx(1 + static_cast<std::uint32_t>(random.below(epoch_of(h.last()) + 1)),
                            static_cast<std::uint32_t>(random.below(6)));
      ASSERT_EQ(h.at_or_before(probe), model.at_or_before(probe, h.window_begin())) << text(probe);
    }
  }
}

}  // namespace
}  // namespace drover::zab
