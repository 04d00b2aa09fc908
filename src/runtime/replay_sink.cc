// SPDX-License-Identifier: Apache-2.0
#include "runtime/replay_sink.h"

#include <utility>

#include "runtime/clock.h"
#include "wire/txns.h"

namespace drover::server {
namespace {

constexpr std::size_t kBatchBytes = 256 * 1024;
constexpr std::size_t kBatchesMax = 8;
// Nearly every transaction is about a different node, which is in no cache: prefetch this many ahead.
constexpr std::size_t kLookAhead = 8;

}  // namespace

ReplaySink::ReplaySink(replica::StateBuilder& builder)
    : builder_(builder), sink_(builder), loaded_at_(monotonic_now()) {}

void ReplaySink::reset() {
  finish();
  failed_ = false;
  sink_.reset();
}

void ReplaySink::snapshot_loaded(Zxid zxid, const std::optional<storage::SnapshotDigest>& digest) {
  loaded_at_ = monotonic_now();
  sink_.snapshot_loaded(zxid, digest);
}

bool ReplaySink::txn(Zxid, std::string_view entry) {
  gathering_.bytes.append(entry);
  gathering_.ends.push_back(gathering_.bytes.size());
  return gathering_.bytes.size() < kBatchBytes || hand_over();
}

bool ReplaySink::hand_over() {
  if (!thread_.joinable()) {
    all_read_ = false;
    thread_ = std::thread([this] { run(); });
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.size() < kBatchesMax || failed_; });
  queue_.push_back(std::exchange(gathering_, {}));
  changed_.notify_all();
  return !failed_;
}

bool ReplaySink::finish() {
  if (thread_.joinable()) {
    {
      std::lock_guard lock(mutex_);
      all_read_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  // The last, partial batch is not worth a thread.
  if (!failed_) failed_ = !apply(std::exchange(gathering_, {}));
  return !failed_;
}

void ReplaySink::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !queue_.empty() || all_read_; });
    if (queue_.empty()) return;
    const Batch batch = std::move(queue_.front());
    queue_.pop_front();
    changed_.notify_all();
    lock.unlock();
    const bool good = failed_ || apply(batch);
    lock.lock();
    if (!good) failed_ = true;
  }
}

bool ReplaySink::apply(const Batch& batch) {
  const auto entry = [&](std::size_t i) {
    const std::size_t begin = i == 0 ? 0 : batch.ends[i - 1];
    return std::string_view(batch.bytes).substr(begin, batch.ends[i] - begin);
  };
  for (std::size_t i = 0; i < batch.ends.size(); ++i) {
    if (i + kLookAhead < batch.ends.size()) builder_.prefetch(entry(i + kLookAhead));
    if (!sink_.txn(wire::zxid_of_entry(entry(i)), entry(i))) return false;
  }
  return true;
}

}  // namespace drover::server
