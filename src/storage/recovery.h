// SPDX-License-Identifier: Apache-2.0
//
// From a data directory to the state it holds: the newest snapshot that verifies, then every transaction
// after it.
//
// Damage is a result, not an exception: the report says what is wrong, and the sink holds the history up
// to there. A server must not vote on it (docs/quorum-protocol.md, "Election"); a tool may look at it.
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
  // Forget everything: a snapshot turned out to be corrupt and another follows. Also called at the start.
  virtual void reset() = 0;
  // The snapshot is whole. Not called when the history begins with nothing.
  virtual void snapshot_loaded(Zxid zxid, const std::optional<SnapshotDigest>& digest) = 0;
  // A transaction after the snapshot, in order. False: it cannot be applied, which is damage.
  virtual bool txn(Zxid zxid, std::string_view entry) = 0;
};

struct RecoveryOptions {
  // zookeeper.snapshot.trust.empty: logs without any snapshot begin with the empty tree.
  bool trust_empty = false;
  // zookeeper.db.autocreate: an empty directory may become an empty database without an initialize mark.
  bool autocreate = false;
  // Remove what a crash left and what would mislead a later reader. Off for tools that only look.
  bool repair = true;
};

enum class RecoveryOutcome {
  kRecovered,
  kEmpty,    // no history at all; may_start_empty says whether that is meant
  kDamaged,  // part of the history is missing or wrong: damage says what
};

struct RecoveryReport {
  RecoveryOutcome outcome = RecoveryOutcome::kEmpty;
  // The last transaction that the sink holds. -1 when the directory is empty and may not start so.
  Zxid last{-1};
  std::optional<Zxid> snapshot;
  std::string snapshot_file;
  std::uint64_t nodes_loaded = 0;
  std::uint64_t txns_replayed = 0;
  bool torn_tail = false;
  bool may_start_empty = false;
  bool has_initialize_mark = false;   // looked for only when there is no history
  std::string damage;                 // one line; empty unless kDamaged
  std::vector<std::string> findings;  // for the operator, one line each; damage included
  LogTail tail;                       // for TxnLogWriter::open

  bool damaged() const { return outcome == RecoveryOutcome::kDamaged; }
};

// An IoError means that the directories could not even be listed.
IoResult<RecoveryReport> recover(Disk& disk, const DataDirs& dirs, const RecoveryOptions& options,
                                 RecoverySink& sink);

}  // namespace drover::storage
