// SPDX-License-Identifier: Apache-2.0
#include "server/log_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/ensure.h"
#include "storage/file_names.h"
#include "storage/testing.h"

namespace drover::server {
namespace {

using storage::testing::Store;
using storage::testing::zx;

replica::LogAppendPtr append_of(Zxid zxid) {
  const std::string bytes = storage::testing::entry(zxid);
  return std::make_shared<replica::LogAppend>(
      replica::LogAppend{bytes, {static_cast<std::uint32_t>(bytes.size())}, zxid, zxid});
}

// A log thread on a disk in memory, which only that thread touches while it runs.
class Log {
 public:
  explicit Log(const LogThreadOptions& options) {
    store_.start();
    thread_ = std::make_unique<LogThread>(
        *std::move(store_.writer), options,
        LogThread::Callbacks{.durable = [this](Zxid last) { on_durable(last); },
                             .disk_full = [](bool) {},
                             .want_snapshot =
                                 [this] {
                                   ++asked;
                                   return snapshots_start.load();
                                 },
                             .snapshot_bytes = [] { return std::uint64_t{0}; },
                             .fatal = [](const IoError& error) { ENSURE(false, error.what.c_str()); }});
  }

  // One batch for each, as from a client that waits for every answer.
  void append(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t c = first; c <= last; ++c) {
      thread_->submit(append_of(zx(1, c)));
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return durable_ == zx(1, c); });
    }
  }

  std::vector<std::string> files_after_end() {
    thread_.reset();
    std::vector<std::string> logs;
    const auto names = store_.disk.list(store_.dirs.logs);
    for (const std::string& name : *names) {
      if (storage::parse_log_name(name)) logs.push_back(name);
    }
    return logs;
  }

  std::atomic<bool> snapshots_start{true};
  std::atomic<int> asked{0};

 private:
  void on_durable(Zxid last) {
    std::lock_guard lock(mutex_);
    durable_ = last;
    changed_.notify_one();
  }

  Store store_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Zxid durable_{};
  std::unique_ptr<LogThread> thread_;
};

TEST(LogThread, EndsAFileWhereASnapshotBegins) {
  Log log({.snap_count = 20});
  log.append(1, 21);
  EXPECT_EQ(log.files_after_end().size(), 2u);
  EXPECT_EQ(log.asked, 1);
}

TEST(LogThread, DoesNotEndFilesWhileASnapshotIsBeingWritten) {
  // Ending a file costs several syncs. With a large tree and a small limit there would be thousands of files,
  // and every write would wait for them.
  Log log({.snap_count = 20});
  log.snapshots_start = false;
  log.append(1, 100);
  log.snapshots_start = true;
  log.append(101, 110);
  EXPECT_EQ(log.files_after_end().size(), 2u);
  EXPECT_GE(log.asked, 80) << "it is asked for until one begins";
}

}  // namespace
}  // namespace drover::server
