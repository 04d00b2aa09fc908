// SPDX-License-Identifier: Apache-2.0
#include "runtime/snapshot_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "replica/state_builder.h"
#include "storage/forwarding_disk.h"
#include "storage/memory_disk.h"
#include "storage/recovery.h"
#include "storage/recovery_sink_adapter.h"

namespace drover::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A tree whose snapshot takes a few tens of pieces.
class SnapshotThreads : public ::testing::Test {
 protected:
  static constexpr int kNodes = 3000;

  SnapshotThreads() {
    machine_.tree.ensure_special_nodes();
    machine_.last_zxid = Zxid{kNodes};
    for (int i = 1; i <= kNodes; ++i) {
      wire::StatPersisted stat;
      stat.czxid = stat.mzxid = stat.pzxid = Zxid{i};
      const std::string path = "/" + std::to_string(i);
      machine_.tree.insert(machine_.tree.root(), {path, data_, state::kOpenAcl, stat});
    }
    EXPECT_TRUE(disk_.make_directories(dirs_.snapshots));
  }

  IoResult<SnapshotResult> write(const SnapshotPace& pace) {
    return write_snapshot(disk_, dirs_.snapshots, machine_, lock_, {}, pace);
  }
  std::vector<std::string> files() { return *disk_.list(dirs_.snapshots); }

  const std::string data_ = std::string(2000, 'd');
  storage::MemoryDisk disk_{1};
  storage::DataDirs dirs_ = storage::data_dirs("/data");
  state::Machine machine_{state::Options{}};
  TreeLock lock_{1};
};

TEST_F(SnapshotThreads, PauseAfterEachPieceForTheLog) {
  int pieces = 0;
  const auto written = write([&](nanoseconds) {
    ++pieces;
    return true;
  });
  ASSERT_TRUE(written) << written.error().what;
  EXPECT_GE(pieces, 15) << "6 MB in pieces of a quarter, each of them synced";

  state::Machine again{state::Options{}};
  replica::StateBuilder builder(again);
  storage::RecoverySinkAdapter sink(builder);
  const auto recovered = storage::recover(disk_, dirs_, {}, sink);
  ASSERT_TRUE(recovered) << recovered.error().what;
  EXPECT_EQ(again.tree.node_count(), machine_.tree.node_count());
}

TEST_F(SnapshotThreads, AbandonedSnapshotLeavesNothingBehind) {
  int pieces = 0;
  const auto written = write([&](nanoseconds) { return ++pieces < 3; });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ECANCELED);
  EXPECT_TRUE(files().empty());
}

TEST_F(SnapshotThreads, PausesAreLongButBounded) {
  EXPECT_EQ(pause_after(milliseconds(1)), milliseconds(4));
  EXPECT_EQ(pause_after(milliseconds(800)), milliseconds(20)) << "a slow disk still gets its snapshot";
}

// The tree takes 6 MB.
TEST_F(SnapshotThreads, KeepDiskSpaceForTheLog) {
  disk_.set_capacity(10 << 20);
  SnapshotThread thread(disk_, dirs_, machine_, lock_, {},
                        {.finished = [](const SnapshotResult&) {}, .may_begin = {}, .fatal = {}});
  const auto none = thread.take();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ENOSPC);
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(thread.stats().failures, 1u);
  disk_.set_capacity(13 << 20);
  EXPECT_TRUE(thread.take());
}

TEST_F(SnapshotThreads, RefuseRequestsWhileBusy) {
  std::mutex mutex;
  std::condition_variable changed;
  int finished = 0;
  bool go_on = false;
  const auto on_finished = [&](const SnapshotResult&) {
    std::unique_lock lock(mutex);
    ++finished;
    changed.notify_all();
    changed.wait(lock, [&] { return go_on; });
  };
  SnapshotThread thread(disk_, dirs_, machine_, lock_, {},
                        {.finished = on_finished, .may_begin = {}, .fatal = {}});
  EXPECT_TRUE(thread.request());
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return finished == 1; });
    EXPECT_FALSE(thread.request()) << "the first has not ended";
    go_on = true;
    changed.notify_all();
  }
  while (!thread.request()) std::this_thread::yield();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return finished == 2; });
}

TEST_F(SnapshotThreads, ReturnTheRequestedSnapshot) {
  SnapshotThread thread(disk_, dirs_, machine_, lock_, {},
                        {.finished = [](const SnapshotResult&) {}, .may_begin = {}, .fatal = {}});
  const auto taken = thread.take();
  ASSERT_TRUE(taken) << taken.error().what;
  EXPECT_EQ(taken->zxid, Zxid{kNodes});
  EXPECT_EQ(files(), std::vector<std::string>{taken->file});
}

TEST_F(SnapshotThreads, ReportToTheCallerThatASnapshotIsNotAllowed) {
  SnapshotThread thread(
      disk_, dirs_, machine_, lock_, {},
      {.finished = [](const SnapshotResult&) {}, .may_begin = [] { return false; }, .fatal = {}});
  EXPECT_FALSE(thread.take());
}

TEST_F(SnapshotThreads, StopReleasesWaitingCallers) {
  SnapshotThread thread(disk_, dirs_, machine_, lock_, {},
                        {.finished = [](const SnapshotResult&) {}, .may_begin = {}, .fatal = {}});
  thread.pause();  // so that it cannot be written
  IoResult<SnapshotResult> taken;
  std::thread waiting([&] { taken = thread.take(); });
  thread.stop();
  waiting.join();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ECANCELED);
}

TEST_F(SnapshotThreads, DoNotWriteAStateWhoseHistoryWasDiscarded) {
  // Requested while the log is truncated, and begun before the state is reloaded: such a snapshot would bring
  // back the truncated transactions.
  std::atomic<bool> allowed{false};
  std::atomic<int> finished{0};
  SnapshotThread thread(disk_, dirs_, machine_, lock_, {},
                        {.finished = [&](const SnapshotResult&) { ++finished; },
                         .may_begin = [&] { return allowed.load(); },
                         .fatal = {}});
  thread.pause();
  EXPECT_TRUE(thread.request());
  thread.resume();
  while (!thread.request()) std::this_thread::yield();
  thread.pause();
  EXPECT_EQ(finished, 0);
  EXPECT_TRUE(files().empty());

  allowed = true;
  thread.resume();
  while (finished == 0) {
    (void)thread.request();
    std::this_thread::yield();
  }
}

TEST(LogDirectoryGuard, StopsTheProcessOnlyForTheLogDirectory) {
  storage::MemoryDisk disk(1);
  ASSERT_TRUE(disk.make_directories("/logs"));
  ASSERT_TRUE(disk.make_directories("/snapshots"));
  int fatal = 0;
  LogDirectoryGuard guard(disk, "/logs", [&](const IoError&) { ++fatal; });
  for (const char* directory : {"/logs", "/snapshots"}) {
    disk.inject({.error = EIO, .only = storage::DiskOperation::kSyncDirectory});
    EXPECT_FALSE(guard.sync_directory(directory));
  }
  EXPECT_EQ(fatal, 1);
  EXPECT_TRUE(guard.sync_directory("/logs"));
  EXPECT_EQ(fatal, 1);
}

// Simulates a lack of memory during a snapshot.
class ThrowingDisk final : public storage::ForwardingDisk {
 public:
  using ForwardingDisk::ForwardingDisk;
  IoResult<std::unique_ptr<storage::File>> open(const std::string& path, storage::OpenMode mode) override {
    if (throws.exchange(false)) throw std::bad_alloc();
    return ForwardingDisk::open(path, mode);
  }
  std::atomic<bool> throws = true;
};

TEST_F(SnapshotThreads, ContinueAfterAnException) {
  ThrowingDisk disk(disk_);
  SnapshotThread thread(disk, dirs_, machine_, lock_, {},
                        {.finished = [](const SnapshotResult&) {}, .may_begin = {}, .fatal = {}});
  const auto first = thread.take();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().what, std::bad_alloc().what());
  EXPECT_TRUE(thread.take());
  EXPECT_EQ(thread.stats().failures, 1u);
}

}  // namespace
}  // namespace drover::server
