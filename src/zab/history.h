// SPDX-License-Identifier: Apache-2.0
//
// The end of this server's history: what is logged, how much of it is durable, and how much is agreed on.
//
//        window begins            committed          durable          last
//   ... ------|----------------------|-----------------|---------------|
//             ^ a learner that is here or later gets the difference; one further back, a snapshot
//
// The log files hold more: everything after begun_at(), which is the snapshot that this process has started
// from, or the state that it was sent. What the files hold before that may not be ours: ZooKeeper leaves its
// log where it is when a leader sends another state, and so the files of a server that was Java's may hold
// transactions that were never committed, and have holes.
//
// All roles share one object, so that a server keeps its knowledge when it changes its role. Recent
// transactions stay in memory; a count limit and a byte limit decide which ones to forget.
//
// Invariant: within an epoch zxids are contiguous. A gap would later be sent to a learner as a DIFF with a
// transaction missing (ZOOKEEPER-4925), so append() refuses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/ids.h"
#include "wire/txn_batch.h"

namespace drover::zab {

using wire::TxnBatch;
using wire::TxnBatchPtr;

struct WindowLimits {
  std::size_t txns = 500;           // zookeeper.commitLogCount
  std::size_t bytes = 16UL << 20U;  // total of the window; large transactions must not fill the memory
};

// The last possible epoch: zxids of a later one would be negative and sort before all others.
inline constexpr std::uint32_t kEpochMax = 0x7fff'ffff;

// Can `next` come right after `last` in a history? A negative zxid cannot; it does not count as a large
// epoch.
constexpr bool follows(Zxid next, Zxid last) {
  if (epoch_of(next) == epoch_of(last)) return raw(next) == raw(last) + 1;
  return next > last;
}

class History {
 public:
  explicit History(const WindowLimits& limits = {}) : limits_(limits) {}

  // The history ends at `last`, and nothing before it is in memory: a snapshot.
  void begin_at(Zxid last);
  // The batch continues the history; everything before it is already on its way to the disk.
  void append(TxnBatchPtr batch);
  // A committed, durable transaction read back from disk.
  void replay(Zxid zxid, std::string_view entry);
  void set_durable(Zxid zxid);
  void set_committed(Zxid zxid);
  // The state in memory holds everything up to here. Later transactions stay in memory.
  void set_applied(Zxid zxid);
  // Later transactions stay in memory whatever the limits say. nullopt: only the limits decide.
  void keep_after(std::optional<Zxid> zxid);
  // Forgets everything after `last`.
  void truncate(Zxid last);

  Zxid last() const { return last_; }
  Zxid durable() const { return durable_; }
  Zxid committed() const { return committed_; }
  Zxid applied() const { return applied_; }
  // Everything after this is in the log files, and nothing else is.
  Zxid begun_at() const { return begun_at_; }
  // Everything after this is in memory.
  Zxid window_begin() const { return window_begin_; }
  std::size_t window_bytes() const { return bytes_; }

  // The newest transaction in the window that is not after `zxid`; window_begin() if all are.
  Zxid at_or_before(Zxid zxid) const;
  // Is it a transaction of the window, or the one right before it?
  bool contains(Zxid zxid) const { return zxid >= window_begin_ && at_or_before(zxid) == zxid; }
  // Does the window hold a transaction of this epoch? If so, `before` is the zxid right before its first.
  bool first_of_epoch(std::uint32_t epoch, Zxid& before) const;

  // Calls visit(zxid, entry) for each transaction with after < zxid <= until, in order. `after` is not
  // before window_begin().
  template <class Visit>
  void for_each(Zxid after, Zxid until, Visit visit) const {
    for (const TxnBatchPtr& batch : batches_) {
      if (batch->last <= after) continue;
      if (batch->first > until) return;
      for (std::size_t i = 0; i < batch->size(); ++i) {
        const Zxid zxid = zxid_at(*batch, i);
        if (zxid > after && zxid <= until) visit(zxid, batch->entry(i));
      }
    }
  }

 private:
  friend class Invariants;

  static Zxid zxid_at(const TxnBatch& batch, std::size_t i);
  void forget_old();

  WindowLimits limits_;
  std::deque<TxnBatchPtr> batches_;
  std::size_t txns_ = 0;
  std::size_t bytes_ = 0;
  Zxid begun_at_{};
  Zxid window_begin_{};
  Zxid last_{};
  Zxid durable_{};
  Zxid committed_{};
  Zxid applied_{};
  std::optional<Zxid> keep_after_;
};

}  // namespace drover::zab
