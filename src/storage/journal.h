// SPDX-License-Identifier: Apache-2.0
//
// What a server of an ensemble does to its disk, in one place: it appends, promises epochs, takes history
// back, puts it away, and begins anew with a leader's state.
//
// Every step is durable before the next one begins, and a crash at any point leaves one of four things: the
// old history whole (or, while truncating, whole up to some point), the new one whole, what recovery calls
// damaged, or an empty directory that may not start on its own. After the last two a server asks a leader
// for everything. Never a mixture (journal_crash_test.cc crashes at every operation).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "storage/epoch_files.h"
#include "storage/log_links.h"
#include "storage/snapshot_writer.h"
#include "storage/truncate.h"
#include "storage/txn_log_writer.h"

namespace drover::storage {

// Owns the log's writer and with it the directory; used by one thread at a time. The disk outlives it.
//
// While truncate(), discard() or replace() run, no snapshot may be in the making and no purge under way: a
// snapshot of the old state that gets its name after them would bring the old history back.
//
// An error ends the process, except ENOSPC of log() as txn_log_writer.h has it and where it says so below.
class Journal {
 public:
  // Behind a recovery that found a whole history, or nothing: `tail` is its RecoveryReport::tail.
  static IoResult<Journal> open(Disk& disk, const DataDirs& dirs, const LogTail& tail,
                                const TxnLogOptions& options);
  // Behind a recovery that found damage. There is no log until discard() or replace(): opening one would
  // bring the watermark down to what is left, and with it the evidence that something is missing.
  static Journal closed(Disk& disk, const DataDirs& dirs, const TxnLogOptions& options);

  bool is_open() const { return log_.has_value(); }
  // Only while open.
  TxnLogWriter& log();

  // Durable when it returns, as everything here.
  IoResult<void> save_epoch(EpochFile which, std::uint32_t epoch, std::uint64_t history_id = 0);

  // Removes everything after `last`. The report says where the history really ends now. An error with code 0
  // has changed nothing: no cut can lead to `last`. The journal is closed then, and discard() or replace()
  // may follow.
  IoResult<TruncateReport> truncate(Zxid last);

  // The history is damaged, or parted from the leader's: puts it away, and begins an empty log. The directory
  // is not new but waits for replace(); until then nothing may be appended. The last two histories put away
  // are kept for whoever wants to know what happened; they may be deleted at any time.
  IoResult<void> discard();

  // A leader's state replaces whatever is here, which may hold transactions after `zxid` that were never
  // agreed on. Returns the snapshot's name.
  //
  // `write` gives sessions, ACLs and nodes; the state may be ahead of `zxid`, as a fuzzy stream is, so the
  // snapshot gets no digest that recovery would compare. Until it is whole on the disk, what was here stays,
  // and a crash or an error leaves that. After an error the journal is closed, and replace() may be called
  // again.
  using WriteState = std::function<IoResult<void>(SnapshotWriter&)>;
  IoResult<std::string> replace(Zxid zxid, const WriteState& write, const SnapshotOptions& options = {});

 private:
  Journal(Disk& disk, const DataDirs& dirs, const TxnLogOptions& options)
      : disk_(&disk), dirs_(dirs), options_(options) {}

  IoResult<void> open_log(const LogTail& tail);
  IoResult<std::string> write_snapshot(Zxid zxid, const WriteState& write, const SnapshotOptions& options);

  Disk* disk_;
  DataDirs dirs_;
  TxnLogOptions options_;
  std::optional<TxnLogWriter> log_;
};

}  // namespace drover::storage
