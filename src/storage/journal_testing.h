// SPDX-License-Identifier: Apache-2.0
//
// Shared by the journal tests: a server that starts and stops on a disk in memory, and the possible histories
// of that disk before an operation.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "storage/journal.h"
#include "storage/testing.h"

namespace drover::storage::testing {

using Names = std::vector<std::string>;
using History = std::vector<Zxid>;

inline constexpr TxnLogOptions kLogOptions{.preallocate_bytes = 2048};
inline constexpr std::uint32_t kCurrentEpoch = 3;
inline constexpr std::uint32_t kAcceptedEpoch = 9;

// The state at the end of `history`, as a leader streams it.
inline Journal::WriteState state_of(const History& history) {
  return [history](SnapshotWriter& writer) -> IoResult<void> {
    writer.begin_sessions(0);
    writer.begin_acls(0);
    writer.node("", "", -1, {});
    for (const Zxid zxid : history) {
      wire::StatPersisted stat;
      stat.czxid = stat.mzxid = stat.pzxid = zxid;
      writer.node("/" + hex(zxid), hex(zxid), -1, stat);
    }
    return {};
  };
}

// A server's disk, the journal on it, and what recovery found last.
class World {
 public:
  explicit World(const DataDirs& dirs, std::uint64_t seed = 1) : disk(seed), dirs_(dirs) {
    for (const std::string& directory : {dirs.snapshots, dirs.logs}) {
      EXPECT_TRUE(disk.make_directories(directory));
    }
    EXPECT_TRUE(write_epoch(disk, dirs.snapshots, EpochFile::kCurrent, kCurrentEpoch));
    EXPECT_TRUE(write_epoch(disk, dirs.snapshots, EpochFile::kAccepted, kAcceptedEpoch));
  }

  const DataDirs& dirs() const { return dirs_; }
  std::string path(std::string_view name) const { return join_path(dirs_.snapshots, name); }

  // Starts like a server; false if the disk failed on the way.
  bool start() {
    stop();
    auto opened = DataDir::open(disk, dirs_, {});
    if (!opened) return false;
    data_dir.emplace(*std::move(opened));
    auto recovered = recover(disk, dirs_, {.autocreate = true}, sink);
    if (!recovered) return false;
    report = *std::move(recovered);
    if (report.damaged()) {
      journal.emplace(Journal::closed(disk, dirs_, kLogOptions));
      return true;
    }
    auto begun = Journal::open(disk, dirs_, report.tail, kLogOptions);
    if (!begun) return false;
    journal.emplace(*std::move(begun));
    return true;
  }
  void stop() {
    journal.reset();
    data_dir.reset();
  }
  void crash(Survival survival) {
    stop();
    disk.crash(survival);
  }

  bool append(const History& zxids) { return journal->log().append(batch(zxids)) && journal->log().sync(); }
  bool snapshot(const History& history) { return write_snapshot(disk, dirs_, history).has_value(); }
  Names set_aside(const std::string& directory) {
    const Names all = *disk.list(directory);
    Names names;
    for (const std::string& name : all) {
      if (name.starts_with("set-aside.")) names.push_back(name);
    }
    return names;
  }

  MemoryDisk disk;
  std::optional<DataDir> data_dir;
  std::optional<Journal> journal;
  RecoveryReport report;
  RecordingSink sink;

 private:
  DataDirs dirs_;
};

// The contents of the disk before the operation under test.
struct Past {
  enum Kind {
    kHistory,
    kNew,
    kLost
  };  // a new server may begin on its own, one that lost its history may not
  std::string name;
  History history;
  std::function<bool(World&)> make;
  Kind kind = kHistory;
};

// Three log files, and snapshots before and after every point that the tests truncate to.
inline Past one_epoch() {
  return {"one epoch", range(1, 1, 50), [](World& w) {
            return w.snapshot({}) && w.start() && w.append(range(1, 1, 20)) && w.snapshot(range(1, 1, 10)) &&
                   (w.journal->log().roll(), w.append(range(1, 21, 40))) && w.snapshot(range(1, 1, 36)) &&
                   (w.journal->log().roll(), w.append(range(1, 41, 50))) && w.snapshot(range(1, 1, 50));
          }};
}

inline Past three_epochs() {
  const History first = range(1, 1, 20);
  const History second = joined(first, range(2, 1, 10));
  const History third = joined(second, range(3, 1, 5));
  return {"three epochs", third, [=](World& w) {
            return w.snapshot({}) && w.start() && w.append(first) && w.snapshot(range(1, 1, 15)) &&
                   (w.journal->log().roll(), w.append(range(2, 1, 10))) && w.snapshot(second) &&
                   (w.journal->log().roll(), w.append(range(3, 1, 5)));
          }};
}

// The files that Java leaves when a leader's snapshot replaced an older history: without the newest snapshot,
// the rest looks like a complete, shorter history. The operator also forgot an initialize mark.
inline Past written_by_java() {
  return {"Java's snapshot over an older history", range(1, 1, 42), [](World& w) {
            const bool made = w.snapshot({}) && w.start() && w.append(range(1, 1, 10)) &&
                              w.snapshot(range(1, 1, 42)) &&
                              w.disk.unlink(join_path(w.dirs().logs, kLogLinksName)) &&
                              w.disk.sync_directory(w.dirs().logs);
            const std::size_t parent = w.dirs().logs.find_last_of('/');
            w.disk.set_contents(join_path(w.dirs().logs.substr(0, parent), "initialize"), "");
            return made;
          }};
}

inline Past only_a_snapshot() {
  return {"only a snapshot", range(1, 1, 5), [](World& w) { return w.snapshot(range(1, 1, 5)); }};
}

inline Past nothing() {
  return {"nothing", {}, [](World&) { return true; }, Past::kNew};
}

inline Past discarded() {
  return {"a history that was put away",
          {},
          [](World& w) { return one_epoch().make(w) && w.journal->discard(); },
          Past::kLost};
}

inline Past half_moved() {
  return {"a history that was being put away",
          {},
          [](World& w) {
            const bool made = one_epoch().make(w);
            w.disk.power_off_after(8);
            return made && !w.journal->discard();
          },
          Past::kLost};
}

inline std::vector<Past> all_pasts() {
  return {one_epoch(), three_epochs(), written_by_java(), only_a_snapshot(),
          nothing(),   discarded(),    half_moved()};
}

inline std::vector<DataDirs> all_dirs() { return {data_dirs("/data"), data_dirs("/data", "/logs")}; }

// Creates the past and restarts, up to the moment of the operation.
inline void begin(World& w, const Past& past) {
  ASSERT_TRUE(past.make(w));
  w.crash(Survival::kKeep);
  ASSERT_TRUE(w.start());
  ASSERT_EQ(w.sink.history, past.history) << w.report.damage;
  ASSERT_EQ(w.report.last == Zxid{-1}, past.kind == Past::kLost);
}

inline void expect_asks_for_state(const World& w) {
  ASSERT_NE(w.report.outcome, RecoveryOutcome::kRecovered);
  EXPECT_FALSE(w.report.may_start_empty);
  EXPECT_EQ(w.report.last, Zxid{-1}) << w.report.damage;
}

}  // namespace drover::storage::testing
