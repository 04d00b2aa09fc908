// SPDX-License-Identifier: Apache-2.0
#include "runtime/log_stream_thread.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "storage/testing.h"

namespace drover::server {
namespace {

using storage::testing::range;
using storage::testing::zx;
using zab::LinkId;
using Progress = LogStreamThread::Progress;

// Only the thread uses the disk.
class Reader {
 public:
  Reader() {
    store_.log(range(1, 1, 9));
    thread_ = std::make_unique<LogStreamThread>(
        store_.disk, host::LogStreamOptions{.dirs = store_.dirs, .size_factor = 0, .piece_bytes = 100},
        [this] {
          std::lock_guard lock(mutex_);
          ++wakes_;
          woken_.notify_one();
        });
  }
  LogStreamThread& thread() { return *thread_; }
  // The next answer, in order.
  LogStreamThread::Answer answer() {
    while (next_ == answers_.size()) {
      {
        std::unique_lock lock(mutex_);
        woken_.wait(lock, [&] { return wakes_ > 0; });
        wakes_ = 0;
      }
      for (auto& each : thread_->take_answers()) answers_.push_back(std::move(each));
    }
    return answers_[next_++];
  }

 private:
  storage::testing::Store store_;
  std::mutex mutex_;
  std::condition_variable woken_;
  int wakes_ = 0;
  std::vector<LogStreamThread::Answer> answers_;
  std::size_t next_ = 0;
  std::unique_ptr<LogStreamThread> thread_;
};

TEST(LogStreamThread, ReadsOnePieceAtATimeForEachLink) {
  Reader reader;
  reader.thread().begin(LinkId{1}, {zx(1, 2), zx(1, 8)});
  const auto found = reader.answer();
  EXPECT_EQ(found.link, LinkId{1});
  EXPECT_FALSE(found.is_piece);
  ASSERT_EQ(found.progress, Progress::kEnd) << found.why;
  reader.thread().begin(LinkId{2}, {zx(1, 4), zx(1, 5)});
  EXPECT_EQ(reader.answer().progress, Progress::kEnd);

  int pieces = 0;
  for (auto progress = Progress::kMore; progress == Progress::kMore; ++pieces) {
    reader.thread().read(LinkId{1});
    const auto piece = reader.answer();
    EXPECT_TRUE(piece.is_piece);
    EXPECT_FALSE(piece.bytes.empty());
    progress = piece.progress;
    EXPECT_NE(progress, Progress::kFailed) << piece.why;
  }
  EXPECT_GT(pieces, 1);
  reader.thread().read(LinkId{2});
  EXPECT_EQ(reader.answer().link, LinkId{2});
}

TEST(LogStreamThread, SaysWhyALogIsOfNoUse) {
  Reader reader;
  reader.thread().begin(LinkId{1}, {zx(1, 2), zx(1, 12)});
  const auto answer = reader.answer();
  EXPECT_EQ(answer.progress, Progress::kFailed);
  EXPECT_FALSE(answer.why.empty());
}

TEST(LogStreamThread, NothingIsReadForALinkThatHasEnded) {
  Reader reader;
  reader.thread().begin(LinkId{1}, {zx(1, 2), zx(1, 8)});
  ASSERT_EQ(reader.answer().progress, Progress::kEnd);
  reader.thread().end(LinkId{1});
  reader.thread().read(LinkId{1});
  reader.thread().begin(LinkId{2}, {zx(1, 2), zx(1, 8)});
  EXPECT_EQ(reader.answer().link, LinkId{2}) << "the next answer is for the next link";
}

TEST(LogStreamThread, EndsWithOrdersThatAreOpen) {
  for (int i = 0; i < 20; ++i) {
    Reader reader;
    for (std::uint64_t link = 1; link < 5; ++link) reader.thread().begin(LinkId{link}, {zx(1, 2), zx(1, 8)});
  }
}

}  // namespace
}  // namespace drover::server
