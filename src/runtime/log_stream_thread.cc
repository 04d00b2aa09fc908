// SPDX-License-Identifier: Apache-2.0
#include "runtime/log_stream_thread.h"

#include <pthread.h>

#include <utility>

#include "log/keep_going.h"

namespace drover::server {

LogStreamThread::LogStreamThread(storage::Disk& disk, host::LogStreamOptions options,
                                 std::function<void()> wake)
    : disk_(disk), options_(std::move(options)), wake_(std::move(wake)) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "drover-diff");
    run();
  });
}

LogStreamThread::~LogStreamThread() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  thread_.join();
}

void LogStreamThread::begin(zab::LinkId link, const zab::LogRange& range) {
  submit({Kind::kBegin, link, range});
}

void LogStreamThread::read(zab::LinkId link) { submit({Kind::kRead, link, {}}); }

void LogStreamThread::end(zab::LinkId link) { submit({Kind::kEnd, link, {}}); }

std::vector<LogStreamThread::Answer> LogStreamThread::take_answers() {
  std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

void LogStreamThread::submit(const Order& order) {
  {
    std::lock_guard lock(mutex_);
    orders_.push_back(order);
  }
  work_.notify_one();
}

void LogStreamThread::run() {
  for (;;) {
    Order order;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [&] { return stopping_ || !orders_.empty(); });
      if (stopping_) return;
      order = orders_.front();
      orders_.pop_front();
    }
    if (keep_going("diff", [&] { carry_out(order); }) || order.kind == Kind::kEnd) continue;
    streams_.erase(order.link);
    answer({order.link, order.kind == Kind::kRead, Progress::kFailed, {}, "there is no memory for it"});
  }
}

void LogStreamThread::carry_out(const Order& order) {
  if (order.kind == Kind::kEnd) return void(streams_.erase(order.link));
  if (order.kind == Kind::kBegin) streams_.try_emplace(order.link, disk_, options_, order.range);
  const auto found = streams_.find(order.link);
  if (found == streams_.end()) return;  // It was ended.
  Answer done{order.link, order.kind == Kind::kRead, Progress::kMore, {}, {}};
  done.progress = done.is_piece ? found->second.send(done.bytes) : found->second.look();
  // Others may need a piece before this log is found.
  if (!done.is_piece && done.progress == Progress::kMore) return submit({Kind::kLook, order.link, {}});
  if (done.progress == Progress::kFailed) done.why = found->second.why();
  if (done.progress == Progress::kFailed || (done.is_piece && done.progress == Progress::kEnd))
    streams_.erase(found);
  answer(std::move(done));
}

void LogStreamThread::answer(Answer answer) {
  {
    std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  wake_();
}

}  // namespace drover::server
