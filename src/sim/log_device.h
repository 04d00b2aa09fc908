// SPDX-License-Identifier: Apache-2.0
//
// The log thread of a simulated server: carries out disk orders one after the other, each with a delay,
// through the product's own journal.
//
// A write and its sync are two events, so that a crash can come between them. Everything else is one event; a
// crash in the middle of it is up to the disk (MemoryDisk::power_off_after).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <variant>

#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "sim/plan.h"
#include "sim/world.h"
#include "storage/journal.h"
#include "zab/effects.h"

namespace drover::sim {

struct DiscardHistory {};
using LogOrder = std::variant<zab::AppendTxns, zab::SaveEpoch, zab::TruncateLog, zab::SaveSnapshot,
                              zab::ReloadState, DiscardHistory>;

class LogDevice {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_durable(Zxid last, std::size_t orders) = 0;
    virtual void on_epoch_saved(zab::EpochKind kind, std::uint32_t epoch) = 0;
    virtual void on_truncated(bool done) = 0;
    virtual void on_state_saved() = 0;
    virtual void on_state_reloaded(bool exact) = 0;
    virtual void on_discarded() = 0;
    // The process cannot continue.
    virtual void on_fatal(const IoError& error) = 0;
    virtual void on_disk_full(bool full) = 0;

    virtual IoResult<void> write_state(storage::SnapshotWriter& writer) = 0;
    virtual IoResult<bool> reload_state() = 0;  // whether it is exact
    virtual void clear_state() = 0;
    // History is about to be rewritten: no snapshot may be under way. False: one is; wait until resume().
    virtual bool pause_snapshots() = 0;
    virtual void resume_snapshots() = 0;
    virtual void want_snapshot() = 0;
  };

  // All of them outlive it.
  LogDevice(World& world, ActorId actor, const DiskPlan& plan, storage::Journal journal, Owner& owner,
            std::uint64_t seed);

  void submit(LogOrder order);
  // No snapshot is under way any more.
  void resume() { start(); }
  // Its next operation takes this much longer.
  void stall(Micros time) { stall_ = std::max(stall_, time); }
  bool is_idle() const { return queue_.empty() && !busy_; }

 private:
  void start();
  void begin_append();
  void write();
  void finish_append();
  void carry_out();
  void finish_order();
  void count_towards_snapshot();
  void choose_next_snapshot();
  bool is_append(std::size_t i) const { return std::holds_alternative<zab::AppendTxns>(queue_[i]); }
  Micros delay() { return skewed(random_, plan_.order_low, plan_.order_high) + std::exchange(stall_, 0); }
  template <class T>
  bool succeeded(const IoResult<T>& result);
  void set_full(bool full);
  void look_for_space();

  World& world_;
  ActorId actor_;
  const DiskPlan& plan_;
  storage::Journal journal_;
  Owner& owner_;
  Random random_;
  std::deque<LogOrder> queue_;
  bool busy_ = false;
  bool dead_ = false;
  bool full_ = false;
  bool refusing_ = false;  // a truncation failed: nothing more until the history is discarded
  Micros stall_ = 0;
  std::size_t gathered_ = 0;  // orders in batch_
  storage::LogBatch batch_;
  std::int64_t txns_since_snapshot_ = 0;
  std::int64_t snapshot_after_txns_ = 0;
};

}  // namespace drover::sim
