// SPDX-License-Identifier: Apache-2.0
#include "sim/log_device.h"

#include <algorithm>
#include <utility>

namespace drover::sim {
namespace {

constexpr Micros kSpaceCheck = 200 * kMillisecond;

host::DiskOptions disk_options(const DiskPlan& plan, host::MembershipFiles& membership, std::uint64_t seed) {
  host::DiskOptions options;
  options.snapshot_after = {.txns = plan.snap_count, .bytes = plan.snap_bytes};
  options.seed = seed;
  options.reserve_bytes = 2048;
  options.membership = &membership;
  return options;
}

}  // namespace

LogDevice::LogDevice(World& world, ActorId actor, const DiskPlan& plan, storage::Journal journal,
                     host::StateInMemory& state, Owner& owner, host::MembershipFiles& membership,
                     std::uint64_t seed)
    : world_(world),
      actor_(actor),
      plan_(plan),
      disk_(std::move(journal), state, disk_options(plan, membership, seed)),
      owner_(owner),
      random_(seed) {}

void LogDevice::submit(host::DiskOrder order) {
  queue_.push_back(std::move(order));
  start();
}

template <class T>
bool LogDevice::succeeded(const IoResult<T>& result) {
  if (result) return true;
  dead_ = true;
  owner_.on_fatal(result.error());
  return false;
}

void LogDevice::start() {
  if (busy_ || dead_) return;
  while (!queue_.empty() && disk_.is_cancelled(queue_.front())) queue_.pop_front();
  if (queue_.empty()) return;
  busy_ = true;
  if (host::is_append(queue_.front())) {
    // The thread wakes up a little later; everything that has come by then goes in one write.
    world_.after(random_.below(200), actor_, [this] { begin_append(); });
  } else {
    world_.after(delay(), actor_, [this] { carry_out(); });
  }
}

// --- transactions ---

void LogDevice::begin_append() {
  batch_.clear();
  for (gathered_ = 0; gathered_ < queue_.size() && host::is_append(queue_[gathered_]); ++gathered_)
    batch_.add(*std::get<zab::AppendTxns>(queue_[gathered_]).batch);
  write();
}

void LogDevice::write() {
  const auto written = disk_.write(batch_);
  if (!succeeded(written)) return;
  tell_if_full();
  if (*written == host::DiskOrders::Written::kNoSpace) {
    world_.after(kSpaceCheck, actor_, [this] { write(); });
  } else {
    world_.after(delay(), actor_, [this] { finish_append(); });
  }
}

void LogDevice::finish_append() {
  if (!succeeded(disk_.sync())) return;
  const zab::TxnsDurable answer{batch_.last, gathered_};
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(gathered_));
  const auto request = [this] { return owner_.want_snapshot(); };
  if (disk_.count_towards_snapshot(batch_, owner_.snapshot_bytes(), request)) world_.count(Did::kLogRoll);
  busy_ = false;
  start();
  owner_.on_disk(answer);
}

void LogDevice::tell_if_full() {
  const bool full = disk_.is_full();
  if (std::exchange(told_full_, full) == full) return;
  owner_.on_disk_full(full);
  if (full) world_.after(kSpaceCheck, actor_, [this] { look_for_space(); });
}

// There are no writes while growth is refused, so nothing else would notice that there is space again.
void LogDevice::look_for_space() {
  if (!disk_.is_full() || dead_) return;
  if (!busy_ && !succeeded(disk_.look_for_space())) return;
  tell_if_full();
  if (disk_.is_full()) world_.after(kSpaceCheck, actor_, [this] { look_for_space(); });
}

// --- everything else ---

void LogDevice::carry_out() {
  const host::DiskOrder order = std::move(queue_.front());
  queue_.pop_front();
  if (host::rewrites_history(order)) owner_.cancel_snapshot();
  const auto answer = disk_.carry_out(order);
  if (!succeeded(answer)) return;
  busy_ = false;
  start();
  owner_.on_disk(*answer);
}

}  // namespace drover::sim
