// SPDX-License-Identifier: Apache-2.0
#include "host/disk_orders.h"

#include <cerrno>

#include "base/ensure.h"

namespace drover::host {

DiskOrders::DiskOrders(storage::Journal journal, StateInMemory& state, const DiskOptions& options)
    : journal_(std::move(journal)),
      state_(state),
      options_(options),
      snapshots_(options.snapshot_after, options.seed) {}

IoResult<zab::DiskAnswer> DiskOrders::carry_out(const DiskOrder& order) {
  ENSURE(!is_cancelled(order), "a truncation that failed cancels all orders after it");
  return std::visit([&](const auto& each) { return run(each); }, order);
}

IoResult<zab::DiskAnswer> DiskOrders::run(const zab::AppendTxns&) {
  ENSURE(false, "transactions are written and synced in two steps");
  return zab::TxnsDurable{};
}

IoResult<zab::DiskAnswer> DiskOrders::run(const zab::SaveEpoch& save) {
  const auto file =
      save.kind == zab::EpochKind::kAccepted ? storage::EpochFile::kAccepted : storage::EpochFile::kCurrent;
  TRY(journal_.save_epoch(file, save.epoch, save.history_id));
  return zab::EpochSaved{save.kind, save.epoch};
}

IoResult<zab::DiskAnswer> DiskOrders::run(const zab::TruncateLog& cut) {
  const auto done = journal_.truncate(cut.last);
  // Code 0: the files do not reach that zxid, and are unchanged.
  if (!done && done.error().code != 0) return std::unexpected(done.error());
  refusing_ = !done;
  return zab::LogTruncated{done.has_value()};
}

IoResult<zab::DiskAnswer> DiskOrders::run(const zab::SaveSnapshot& snapshot) {
  const auto write = [this](storage::SnapshotWriter& writer) { return state_.write_state(writer); };
  TRY(journal_.replace(snapshot.zxid, write, options_.snapshots));
  return zab::SnapshotSaved{};
}

IoResult<zab::DiskAnswer> DiskOrders::run(const zab::ReloadState&) {
  TRY_ASSIGN(const bool exact, state_.reload_state());
  return zab::StateReloaded{exact};
}

IoResult<zab::DiskAnswer> DiskOrders::run(const zab::SaveMembership& save) {
  if (MembershipFiles* files = options_.membership)
    TRY(save.committed ? files->commit(*save.membership) : files->propose(*save.membership));
  return zab::MembershipStored{};
}

IoResult<zab::DiskAnswer> DiskOrders::run(const zab::WithdrawMembership&) {
  if (options_.membership) TRY(options_.membership->withdraw());
  return zab::MembershipStored{};
}

IoResult<zab::DiskAnswer> DiskOrders::run(const DiscardHistory&) {
  state_.clear_state();
  TRY(journal_.discard());
  refusing_ = false;
  return zab::HistoryDiscarded{};
}

IoResult<void> DiskOrders::reserve(std::uint64_t bytes, std::uint64_t entries) {
  if (!journal_.is_open()) {
    full_ = false;
    return {};
  }
  const auto ahead = journal_.log().reserve(bytes + options_.reserve_bytes, entries);
  if (!ahead && (journal_.log().failed() || ahead.error().code != ENOSPC))
    return std::unexpected(ahead.error());
  full_ = !ahead;
  return {};
}

bool DiskOrders::has_room(const wire::TxnBatch& batch) {
  return journal_.is_open() &&
         journal_.log().has_room(batch.bytes.size() + options_.reserve_bytes, batch.size());
}

IoResult<DiskOrders::Written> DiskOrders::write(const wire::TxnBatch& batch) {
  TRY(reserve(batch.bytes.size(), batch.size()));
  const auto done = journal_.log().append(batch);
  if (done) return Written::kYes;
  if (journal_.log().failed() || done.error().code != ENOSPC) return std::unexpected(done.error());
  return Written::kNoSpace;
}

bool DiskOrders::count_towards_snapshot(const wire::TxnBatch& batch, std::uint64_t newest_snapshot_bytes,
                                        const std::function<bool()>& request) {
  snapshots_.count(batch.size(), batch.bytes.size());
  if (!snapshots_.is_due(newest_snapshot_bytes)) return false;
  // A log file ends where a snapshot begins. Ending a file costs several syncs, and every write waits for
  // them. So it must not happen again and again while one long snapshot is being written.
  if (!request()) return false;
  snapshots_.begin_anew();
  journal_.log().roll();
  return true;
}

}  // namespace drover::host
