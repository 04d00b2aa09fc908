// SPDX-License-Identifier: Apache-2.0
//
// Power loss after every disk operation of truncate(), discard() and replace(), with every possible outcome
// for unsynced data, and again during the next recovery. There is never a mixture of two histories, never a
// directory that wrongly counts as new, and the same operation can be repeated afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "storage/journal_testing.h"

namespace drover::storage::testing {
namespace {

constexpr int kTears = 6;

struct Order {
  std::function<bool(Journal&)> run;
  std::function<void(World&)> expect_found;  // after a crash at any point in it
  std::function<void(World&)> expect_done;   // after it returned, and then a crash
};

void expect_epochs_untouched(World& w) {
  EXPECT_EQ(*read_epoch(w.disk, w.dirs().snapshots, EpochFile::kCurrent), kCurrentEpoch);
  EXPECT_EQ(*read_epoch(w.disk, w.dirs().snapshots, EpochFile::kAccepted), kAcceptedEpoch);
}

// Crashes after disk operation `k` of the order, and again during the following recovery.
void crash_and_check(const Past& past, const DataDirs& dirs, const Order& order, std::uint64_t k,
                     Survival survival, std::uint64_t seed) {
  World w(dirs, seed);
  begin(w, past);
  w.disk.power_off_after(k);
  const bool done = order.run(*w.journal);
  w.crash(survival);
  w.disk.power_off_after(seed);
  (void)w.start();
  w.crash(survival);
  ASSERT_TRUE(w.start());
  EXPECT_FALSE(w.sink.altered);
  expect_epochs_untouched(w);
  done ? order.expect_done(w) : order.expect_found(w);
  if (::testing::Test::HasFailure()) return;

  // In every case the order can be repeated.
  ASSERT_TRUE(order.run(*w.journal));
  w.crash(Survival::kLose);
  ASSERT_TRUE(w.start());
  order.expect_done(w);
  expect_epochs_untouched(w);
}

void sweep(const Past& past, const DataDirs& dirs, const Order& order) {
  World whole(dirs);
  begin(whole, past);
  const std::uint64_t before = whole.disk.operations();
  ASSERT_TRUE(order.run(*whole.journal));
  const std::uint64_t operations = whole.disk.operations() - before;
  for (std::uint64_t k = 0; k <= operations; ++k) {
    for (const Survival survival : {Survival::kLose, Survival::kKeep, Survival::kTear}) {
      for (int seed = 0; seed < (survival == Survival::kTear ? kTears : 1); ++seed) {
        SCOPED_TRACE(past.name + ", logs in " + dirs.logs + ": crash after operation " + std::to_string(k) +
                     " of " + std::to_string(operations) + ", survival " +
                     std::to_string(static_cast<int>(survival)) + ", seed " + std::to_string(seed));
        crash_and_check(past, dirs, order, k, survival, static_cast<std::uint64_t>(seed));
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

Order replacing(const Past& past, const History& history) {
  const Zxid zxid = history.back();
  return {[=](Journal& journal) { return journal.replace(zxid, state_of(history)).has_value(); },
          [=](World& w) {
            if (w.report.outcome == RecoveryOutcome::kRecovered || past.kind == Past::kHistory) {
              // A server that had a history still has one: a crash costs no voter.
              const bool nothing_done = past.kind == Past::kHistory && w.sink.history == past.history;
              EXPECT_TRUE(nothing_done || w.sink.history == history) << "a mixture; " << w.report.damage;
            } else if (past.kind == Past::kNew) {
              EXPECT_TRUE(w.report.may_start_empty) << "nothing has happened to a new server";
            } else {
              expect_asks_for_state(w);
            }
          },
          [=](World& w) {
            EXPECT_EQ(w.sink.history, history) << w.report.damage;
            EXPECT_EQ(w.report.last, zxid);
            EXPECT_FALSE(w.sink.digest) << "the state may be ahead of its name";
            EXPECT_EQ(replacing_mark(w.disk, w.dirs()), Replacing::kNo);
            EXPECT_FALSE(*has_initialize_mark(w.disk, w.dirs()));
          }};
}

// The leader's state ends in the same epoch as the past, before it, or after everything.
TEST(JournalCrash, ACrashInsideReplaceLeavesTheOldHistoryTheNewOneOrNone) {
  const std::vector<History> leaders = {range(1, 1, 30), joined(range(1, 1, 20), range(2, 1, 4)),
                                        joined(range(1, 1, 7), range(5, 1, 3))};
  for (const Past& past : all_pasts()) {
    for (const DataDirs& dirs : all_dirs()) {
      for (const History& history : leaders) {
        sweep(past, dirs, replacing(past, history));
        if (HasFailure()) return;
      }
    }
  }
}

Order discarding(const Past& past) {
  return {[](Journal& journal) { return journal.discard().has_value(); },
          [=](World& w) {
            if (w.report.outcome == RecoveryOutcome::kRecovered) {
              EXPECT_EQ(past.kind, Past::kHistory);
              EXPECT_EQ(w.sink.history, past.history) << "a part of the history looks whole";
            } else if (past.kind != Past::kNew) {
              expect_asks_for_state(w);
            }
          },
          [](World& w) {
            expect_asks_for_state(w);
            EXPECT_EQ(w.report.outcome, RecoveryOutcome::kEmpty);
            EXPECT_LE(w.set_aside(w.dirs().snapshots).size(), 2u);
            EXPECT_LE(w.set_aside(w.dirs().logs).size(), 2u);
          }};
}

TEST(JournalCrash, ACrashInsideDiscardLeavesTheWholeHistoryOrNone) {
  for (const Past& past : all_pasts()) {
    for (const DataDirs& dirs : all_dirs()) {
      sweep(past, dirs, discarding(past));
      if (HasFailure()) return;
    }
  }
}

Order truncating(const Past& past, std::size_t keep) {
  const Zxid last = past.history[keep - 1];
  const History kept(past.history.begin(), past.history.begin() + static_cast<std::ptrdiff_t>(keep));
  return {[=](Journal& journal) {
            const auto report = journal.truncate(last);
            return report && report->last == last;
          },
          [=](World& w) {
            ASSERT_EQ(w.report.outcome, RecoveryOutcome::kRecovered) << w.report.damage;
            ASSERT_GE(w.sink.history.size(), keep);
            ASSERT_LE(w.sink.history.size(), past.history.size());
            EXPECT_TRUE(std::equal(w.sink.history.begin(), w.sink.history.end(), past.history.begin()));
          },
          [=](World& w) { EXPECT_EQ(w.sink.history, kept) << w.report.damage; }};
}

TEST(JournalCrash, ACrashInsideTruncateLeavesAWholeHistory) {
  for (const Past& past : {one_epoch(), three_epochs()}) {
    for (const DataDirs& dirs : all_dirs()) {
      for (const std::size_t keep : {34u, 20u, 9u}) {
        sweep(past, dirs, truncating(past, keep));
        if (HasFailure()) return;
      }
    }
  }
}

// A failing device ends the process, and the next process finds some of the last changes only in the page
// cache. Power may fail after any operation of its recovery (`lives_for`), and after the recovery.
bool fail_and_check(const Past& past, const Order& order, std::uint64_t k, std::uint64_t lives_for) {
  World w(data_dirs("/data", "/logs"), k * 100 + lives_for);
  begin(w, past);
  w.disk.inject({.error = EIO, .skip = k});
  if (order.run(*w.journal)) return false;  // the order takes fewer operations
  w.disk.power_off_after(lives_for);
  const bool told = w.start() && w.report.last != Zxid{-1};
  const History found = w.sink.history;
  w.crash(Survival::kTear);
  EXPECT_TRUE(w.start());
  order.expect_found(w);
  if (told) {
    EXPECT_EQ(w.sink.history, found) << "it told the others that it has this";
  }
  return !::testing::Test::HasFailure();
}

TEST(JournalCrash, AFailedOperationIsReturnedAndTheNextProcessRecovers) {
  for (const Past& past : all_pasts()) {
    const Order replace = replacing(past, joined(range(1, 1, 20), range(2, 1, 4)));
    for (const Order& order : {replace, discarding(past)}) {
      for (std::uint64_t lives_for = 0; lives_for < 12; ++lives_for) {
        for (std::uint64_t k = 0; fail_and_check(past, order, k, lives_for); ++k) {
        }
        ASSERT_FALSE(HasFailure()) << past.name << ", power goes after " << lives_for << " operations";
      }
    }
  }
}

}  // namespace
}  // namespace drover::storage::testing
