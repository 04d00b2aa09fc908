// SPDX-License-Identifier: Apache-2.0
//
// Recovers the state from a data directory: loads the newest snapshot that verifies, then replays every
// transaction after it.
//
// Damage is a result, not an exception: the report says what is wrong, and the sink holds the history before
// the damage. A server must not vote with it (docs/quorum-protocol.md, "Election"); a tool may inspect it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "storage/log_links.h"
#include "storage/snapshot_format.h"

namespace drover::storage {

class RecoverySink : public SnapshotSink {
 public:
  // Discard everything: a snapshot was corrupt and another one follows. Also called at the start.
  virtual void reset() = 0;
  // The snapshot is complete. Not called if the history starts without a snapshot.
  virtual void snapshot_loaded(Zxid zxid, const std::optional<SnapshotDigest>& digest) = 0;
  // A transaction after the snapshot, in order. False means that it cannot be applied, which is damage.
  virtual bool txn(Zxid zxid, std::string_view entry) = 0;
};

struct RecoveryOptions {
  // zookeeper.snapshot.trust.empty: logs without any snapshot start from the empty tree.
  bool trust_empty = false;
  // zookeeper.db.autocreate: an empty directory may become an empty database without an initialize mark.
  bool autocreate = false;
  // Remove the leftovers of a crash and anything that would mislead a later reader. Off for read-only tools.
  bool repair = true;
};

enum class RecoveryOutcome {
  kRecovered,
  kEmpty,    // no history; may_start_empty says whether that is intended
  kDamaged,  // part of the history is missing or wrong: damage says what
};

struct RecoveryReport {
  RecoveryOutcome outcome = RecoveryOutcome::kEmpty;
  // The last transaction in the sink. -1 if the directory is empty and the server may not start with it.
  Zxid last{-1};
  std::optional<Zxid> snapshot;
  std::string snapshot_file;
  std::uint64_t nodes_loaded = 0;
  std::uint64_t txns_replayed = 0;
  bool torn_tail = false;
  bool may_start_empty = false;
  bool has_initialize_mark = false;   // checked only if there is no history
  std::string damage;                 // one line; empty unless kDamaged
  std::vector<std::string> findings;  // for the operator, one line each; damage included
  LogTail tail;                       // for TxnLogWriter::open

  bool damaged() const { return outcome == RecoveryOutcome::kDamaged; }
};

// Returns an IoError only if the directories cannot be listed.
IoResult<RecoveryReport> recover(Disk& disk, const DataDirs& dirs, const RecoveryOptions& options,
                                 RecoverySink& sink);

}  // namespace drover::storage
