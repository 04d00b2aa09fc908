// SPDX-License-Identifier: Apache-2.0
//
// The log thread of a simulated server: carries out disk orders one after the other, each with a delay,
// by the product's own code (host/disk_orders).
//
// A write and its sync are two events, so that a crash can come between them. Everything else is one event; a
// crash in the middle of it is up to the disk (MemoryDisk::power_off_after).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "host/disk_orders.h"
#include "sim/plan.h"
#include "sim/world.h"
#include "storage/journal.h"
#include "zab/effects.h"

namespace drover::sim {

class LogDevice {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_disk(const zab::DiskAnswer& answer) = 0;
    // The process cannot continue.
    virtual void on_fatal(const IoError& error) = 0;
    virtual void on_disk_full(bool full) = 0;
    // History is about to be rewritten: a snapshot that is being written is given up, and begun again later.
    virtual void cancel_snapshot() = 0;
    // False: not now; ask again.
    virtual bool want_snapshot() = 0;
    virtual std::uint64_t snapshot_bytes() const = 0;
  };

  // All of them outlive it.
  LogDevice(World& world, ActorId actor, const DiskPlan& plan, storage::Journal journal,
            host::StateInMemory& state, Owner& owner, host::MembershipFiles& membership, std::uint64_t seed);

  void submit(host::DiskOrder order);
  // Its next operation takes this much longer.
  void stall(Micros time) { stall_ = std::max(stall_, time); }
  bool is_idle() const { return queue_.empty() && !busy_; }

 private:
  void start();
  void begin_append();
  void write();
  void finish_append();
  void carry_out();
  Micros delay() { return skewed(random_, plan_.order_low, plan_.order_high) + std::exchange(stall_, 0); }
  template <class T>
  bool succeeded(const IoResult<T>& result);
  void tell_if_full();
  void look_for_space();

  World& world_;
  ActorId actor_;
  const DiskPlan& plan_;
  host::DiskOrders disk_;
  Owner& owner_;
  Random random_;
  std::deque<host::DiskOrder> queue_;
  bool busy_ = false;
  bool dead_ = false;
  bool told_full_ = false;
  Micros stall_ = 0;
  std::size_t gathered_ = 0;  // orders in batch_
  wire::TxnBatch batch_;
};

}  // namespace drover::sim
