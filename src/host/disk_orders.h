// SPDX-License-Identifier: Apache-2.0
//
// Carries out a member's orders to the disk, one after the other, each durable before the next begins.
//
// The caller decides when: the server's log thread waits for work and syncs at once; the simulator lets time
// pass between a write and its sync, so that a crash can come in between. What an order does, when the disk
// counts as full, and when a snapshot is due is decided here, for both.
//
// An error ends the process: clients were promised what is in the log. A full disk is the exception, as long
// as nothing was written: the batch waits for space, and the replica refuses requests that grow the state.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>

#include "base/result.h"
#include "host/membership_files.h"
#include "host/snapshot_rule.h"
#include "storage/journal.h"
#include "wire/txn_batch.h"
#include "zab/effects.h"

namespace drover::host {

// The data on the disk is wrong: move it away and start empty.
struct DiscardHistory {};

using DiskOrder =
    std::variant<zab::AppendTxns, zab::SaveEpoch, zab::TruncateLog, zab::SaveSnapshot, zab::ReloadState,
                 zab::SaveMembership, zab::WithdrawMembership, DiscardHistory>;

inline bool is_append(const DiskOrder& order) { return std::holds_alternative<zab::AppendTxns>(order); }
// No snapshot may be under way meanwhile: a snapshot of the old state that is completed after the history has
// changed would bring the old state back.
inline bool rewrites_history(const DiskOrder& order) {
  return std::holds_alternative<zab::TruncateLog>(order) ||
         std::holds_alternative<zab::SaveSnapshot>(order) ||
         std::holds_alternative<zab::ReloadState>(order) || std::holds_alternative<DiscardHistory>(order);
}

// The state in memory, as far as orders need it.
class StateInMemory {
 public:
  virtual ~StateInMemory() = default;
  virtual IoResult<void> write_state(storage::SnapshotWriter& writer) = 0;
  virtual IoResult<bool> reload_state() = 0;  // returns whether the state is exact
  virtual void clear_state() = 0;
};

struct DiskOptions {
  SnapshotTrigger snapshot_after;
  storage::SnapshotOptions snapshots{};  // how a leader's state is saved
  std::uint64_t seed = 1;
  // Space reserved ahead of the log. Deletes and session closes still fit when the disk is full and growth is
  // rejected.
  std::uint64_t reserve_bytes = 4 << 20;
  MembershipFiles* membership = nullptr;  // outlives the orders; null: there is no file to write
};

class DiskOrders {
 public:
  // The state outlives it.
  DiskOrders(storage::Journal journal, StateInMemory& state, const DiskOptions& options);

  // After a truncation that failed, nothing is carried out until the history is discarded.
  bool is_cancelled(const DiskOrder& order) const {
    return refusing_ && !std::holds_alternative<DiscardHistory>(order);
  }
  // Everything but appends.
  IoResult<zab::DiskAnswer> carry_out(const DiskOrder& order);

  // --- appends: write() until it says kYes, then sync() ---
  enum class Written : std::uint8_t { kYes, kNoSpace };  // no space: nothing was written, try again
  IoResult<Written> write(const wire::TxnBatch& batch);
  IoResult<void> sync() { return journal_.log().sync(); }
  // The batch is durable. `request` asks for a snapshot if one is due, and returns false if one is already
  // being written. Returns whether a new log file was begun.
  bool count_towards_snapshot(const wire::TxnBatch& batch, std::uint64_t newest_snapshot_bytes,
                              const std::function<bool()>& request);

  // Growth must stop before the log does, so the disk counts as full while it has no space for more than the
  // next batch.
  bool is_full() const { return full_; }
  // Looks for space again. While growth is refused there are no writes that would notice it.
  IoResult<void> look_for_space() { return reserve(0, 1); }
  // Nothing has to be made durable first to append this.
  bool has_room(const wire::TxnBatch& batch);

 private:
  IoResult<void> reserve(std::uint64_t bytes, std::uint64_t entries);
  IoResult<zab::DiskAnswer> run(const zab::AppendTxns& append);
  IoResult<zab::DiskAnswer> run(const zab::SaveEpoch& save);
  IoResult<zab::DiskAnswer> run(const zab::TruncateLog& cut);
  IoResult<zab::DiskAnswer> run(const zab::SaveSnapshot& snapshot);
  IoResult<zab::DiskAnswer> run(const zab::ReloadState& reload);
  IoResult<zab::DiskAnswer> run(const zab::SaveMembership& save);
  IoResult<zab::DiskAnswer> run(const zab::WithdrawMembership& withdraw);
  IoResult<zab::DiskAnswer> run(const DiscardHistory& discard);

  storage::Journal journal_;
  StateInMemory& state_;
  DiskOptions options_;
  SnapshotRule snapshots_;
  bool full_ = false;
  bool refusing_ = false;
};

}  // namespace drover::host
