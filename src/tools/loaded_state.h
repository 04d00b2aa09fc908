// SPDX-License-Identifier: Apache-2.0
//
// Loads the state of a data directory into memory with the server's own recovery code, without changing any
// file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "state/machine.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "storage/file_names.h"
#include "storage/recovery.h"
#include "storage/snapshot_format.h"
#include "tools/context.h"

namespace drover::tools {

// The files may have been written with any settings, so all node types are enabled.
state::Options state_options();

// Where a replay begins: a snapshot that verifies, or nothing if the log starts with the first transaction.
struct ReplayBase {
  std::optional<storage::SnapshotFile> snapshot;
  Zxid zxid{};
};

// The oldest point from which the log continues without a gap.
IoResult<ReplayBase> oldest_base(storage::Disk& disk, const storage::DataDirs& dirs);
// The newest point at or before `zxid` whose snapshot contains no later changes.
IoResult<ReplayBase> base_before(storage::Disk& disk, const storage::DataDirs& dirs, Zxid zxid);

struct LoadedState {
  state::Machine machine{state_options()};
  Zxid last{};                        // last applied transaction
  std::string from;                   // snapshot that was loaded; "" for none
  std::uint64_t replayed = 0;         // transactions
  bool exact = false;                 // digests were compared
  std::vector<std::string> findings;  // digests that differ
};

// The state that a server would start with. Damage is an error.
IoResult<std::unique_ptr<LoadedState>> load_newest(const Context& context, const storage::DataDirs& dirs);
// The state after transaction `zxid`. A zxid between two epochs means the last transaction before it; one
// that the log does not reach is an error.
IoResult<std::unique_ptr<LoadedState>> load_at(const Context& context, const storage::DataDirs& dirs,
                                               Zxid zxid);

// Gives sessions, ACLs and nodes to the sink, in snapshot order. False if the sink refuses one.
bool give_state(const state::Machine& machine, storage::SnapshotSink& sink);

}  // namespace drover::tools
