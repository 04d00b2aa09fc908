// SPDX-License-Identifier: Apache-2.0
//
// All changes that a member of an ensemble makes to its disk: it appends, saves epochs, truncates the
// history, sets it aside, and replaces it with a leader's state.
//
// Every step is durable before the next one starts. A crash at any point leaves one of four states: the old
// history, complete (while truncating: complete up to some point); the new history, complete; a directory
// that recovery calls damaged; or an empty directory that may not start on its own. After the last two the
// server asks a leader for a full state. It never leaves a mixture (journal_crash_test.cc crashes at every
// operation).
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

// Owns the log writer and with it the directory; used by one thread at a time. The disk outlives it.
//
// No snapshot and no purge may be in progress while truncate(), discard() or replace() runs: a snapshot of
// the old state that gets its name after them would bring the old history back.
//
// An error ends the process, with two exceptions: ENOSPC of log() (see txn_log_writer.h), and the cases noted
// below.
class Journal {
 public:
  // Call after a recovery that found a complete history, or none: `tail` is its RecoveryReport::tail.
  static IoResult<Journal> open(Disk& disk, const DataDirs& dirs, const LogTail& tail,
                                const TxnLogOptions& options);
  // Call after a recovery that found damage. There is no log until discard() or replace(): opening one would
  // lower the watermark to what is left, and so destroy the evidence that something is missing.
  static Journal closed(Disk& disk, const DataDirs& dirs, const TxnLogOptions& options);

  bool is_open() const { return log_.has_value(); }
  // Only while open.
  TxnLogWriter& log();

  // Durable when it returns, like every function here.
  IoResult<void> save_epoch(EpochFile which, std::uint32_t epoch, std::uint64_t history_id = 0);

  // Removes everything after `last`. The report says where the history really ends now. An error with code 0
  // has changed nothing: the history cannot be cut at `last`. The journal is then closed, and discard() or
  // replace() may follow.
  IoResult<TruncateReport> truncate(Zxid last);

  // Sets the history aside, because it is damaged or has diverged from the leader's, and starts an empty log.
  // The directory does not count as new: it waits for replace(), and until then nothing may be appended. The
  // last two histories are kept for diagnosis; they may be deleted at any time.
  IoResult<void> discard();

  // Replaces everything here by a leader's state. The old history may hold transactions after `zxid` that
  // were never committed. Returns the snapshot's name.
  //
  // `write` writes sessions, ACLs and nodes. The state may be ahead of `zxid`, because the stream is fuzzy,
  // so the snapshot gets no digest for recovery to compare. The old history stays until the snapshot is
  // complete on disk, and a crash or an error before that keeps it. After an error the journal is closed, and
  // replace() may be called again.
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
