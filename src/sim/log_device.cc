// SPDX-License-Identifier: Apache-2.0
#include "sim/log_device.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace drover::sim {
namespace {

constexpr Micros kSpaceCheck = 200 * kMillisecond;
constexpr std::uint64_t kReserveBytes = 2048;

}  // namespace

LogDevice::LogDevice(World& world, ActorId actor, const DiskPlan& plan, storage::Journal journal,
                     Owner& owner, std::uint64_t seed)
    : world_(world), actor_(actor), plan_(plan), journal_(std::move(journal)), owner_(owner), random_(seed) {
  choose_next_snapshot();
}

void LogDevice::submit(LogOrder order) {
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
  while (refusing_ && !queue_.empty() && !std::holds_alternative<DiscardHistory>(queue_.front()))
    queue_.pop_front();
  if (queue_.empty()) return;
  busy_ = true;
  if (is_append(0)) {
    // The thread wakes up a little later; everything that has come by then goes in one write.
    world_.after(random_.below(200), actor_, [this] { begin_append(); });
    return;
  }
  const bool rewrites = !std::holds_alternative<zab::SaveEpoch>(queue_.front());
  if (rewrites && !owner_.pause_snapshots()) {
    busy_ = false;
    return;
  }
  world_.after(delay(), actor_, [this] { carry_out(); });
}

// --- transactions ---

void LogDevice::begin_append() {
  batch_.clear();
  gathered_ = 0;
  while (gathered_ < queue_.size() && is_append(gathered_)) {
    const zab::TxnBatch& txns = *std::get<zab::AppendTxns>(queue_[gathered_]).batch;
    for (std::size_t i = 0; i < txns.size(); ++i) batch_.add(txns.entry(i));
    ++gathered_;
  }
  write();
}

// Like the server's log thread: reserves space for more than this batch, or the disk counts as full.
void LogDevice::write() {
  const auto ahead = journal_.log().reserve(batch_.bytes.size() + kReserveBytes, batch_.ends.size());
  if (!ahead && (journal_.log().failed() || ahead.error().code != ENOSPC)) {
    (void)succeeded(ahead);
    return;
  }
  set_full(!ahead);
  const auto done = journal_.log().append(batch_);
  if (!done && !journal_.log().failed() && done.error().code == ENOSPC) {
    world_.after(kSpaceCheck, actor_, [this] { write(); });
    return;
  }
  if (succeeded(done)) world_.after(delay(), actor_, [this] { finish_append(); });
}

void LogDevice::finish_append() {
  if (!succeeded(journal_.log().sync())) return;
  const Zxid last = batch_.last;
  const std::size_t orders = gathered_;
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(orders));
  count_towards_snapshot();
  busy_ = false;
  start();
  owner_.on_durable(last, orders);
}

void LogDevice::set_full(bool full) {
  if (std::exchange(full_, full) == full) return;
  owner_.on_disk_full(full);
  if (full) world_.after(kSpaceCheck, actor_, [this] { look_for_space(); });
}

// There are no writes while growth is refused, so nothing else would notice that there is space again.
void LogDevice::look_for_space() {
  if (!full_ || dead_) return;
  if (!busy_) {
    const bool has_space = !journal_.is_open() || journal_.log().reserve(kReserveBytes, 1);
    if (has_space) return set_full(false);
  }
  world_.after(kSpaceCheck, actor_, [this] { look_for_space(); });
}

void LogDevice::count_towards_snapshot() {
  txns_since_snapshot_ += static_cast<std::int64_t>(batch_.ends.size());
  if (txns_since_snapshot_ <= snapshot_after_txns_) return;
  txns_since_snapshot_ = 0;
  choose_next_snapshot();
  journal_.log().roll();
  world_.count(Did::kLogRoll);
  owner_.want_snapshot();
}

void LogDevice::choose_next_snapshot() {
  snapshot_after_txns_ = plan_.snap_count / 2 + between(random_, 0, plan_.snap_count / 2);
}

// --- everything else ---

void LogDevice::finish_order() {
  const bool rewrites = !std::holds_alternative<zab::SaveEpoch>(queue_.front());
  queue_.pop_front();
  busy_ = false;
  if (rewrites) owner_.resume_snapshots();
  start();
}

void LogDevice::carry_out() {
  const LogOrder order = queue_.front();
  if (const auto* save = std::get_if<zab::SaveEpoch>(&order)) {
    const auto file = save->kind == zab::EpochKind::kAccepted ? storage::EpochFile::kAccepted
                                                              : storage::EpochFile::kCurrent;
    if (!succeeded(journal_.save_epoch(file, save->epoch, save->history_id))) return;
    finish_order();
    owner_.on_epoch_saved(save->kind, save->epoch);
  } else if (const auto* cut = std::get_if<zab::TruncateLog>(&order)) {
    const auto done = journal_.truncate(cut->last);
    if (!done && done.error().code != 0 && !succeeded(done)) return;
    refusing_ = !done;
    finish_order();
    owner_.on_truncated(done.has_value());
  } else if (const auto* snapshot = std::get_if<zab::SaveSnapshot>(&order)) {
    const auto write_state = [this](storage::SnapshotWriter& writer) { return owner_.write_state(writer); };
    if (!succeeded(journal_.replace(snapshot->zxid, write_state))) return;
    finish_order();
    owner_.on_state_saved();
  } else if (std::holds_alternative<zab::ReloadState>(order)) {
    const auto exact = owner_.reload_state();
    if (!succeeded(exact)) return;
    finish_order();
    owner_.on_state_reloaded(*exact);
  } else {
    owner_.clear_state();
    if (!succeeded(journal_.discard())) return;
    refusing_ = false;
    finish_order();
    owner_.on_discarded();
  }
}

}  // namespace drover::sim
