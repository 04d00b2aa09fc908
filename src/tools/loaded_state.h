// SPDX-License-Identifier: Apache-2.0
//
// The state that a data directory holds, in memory: built by the very code with which a server starts, and
// without changing a byte.
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

// What is looked at may have been written with any settings: every kind of node is known here.
state::Options state_options();

// Where a replay begins: a snapshot that verifies, or nothing when the log reaches back to the beginning.
struct ReplayBase {
  std::optional<storage::SnapshotFile> snapshot;
  Zxid zxid{};
};

// The oldest point from which the log goes on without a gap.
IoResult<ReplayBase> oldest_base(storage::Disk& disk, const storage::DataDirs& dirs);
// The newest point at or before `zxid` whose snapshot shows nothing from after it.
IoResult<ReplayBase> base_before(storage::Disk& disk, const storage::DataDirs& dirs, Zxid zxid);

struct LoadedState {
  state::Machine machine{state_options()};
  Zxid last{};                        // the last transaction that is in it
  std::string from;                   // the snapshot it began with; "" for none
  std::uint64_t replayed = 0;         // transactions
  bool exact = false;                 // digests were compared
  std::vector<std::string> findings;  // of digests that differ
};

// As a server would have it after its start. Damage is an error.
IoResult<std::unique_ptr<LoadedState>> load_newest(const Context& context, const storage::DataDirs& dirs);
// As it was when `zxid` was the last transaction applied. A zxid that lies between two, at the border of
// epochs, means the earlier one; one that the log does not reach is an error.
IoResult<std::unique_ptr<LoadedState>> load_at(const Context& context, const storage::DataDirs& dirs,
                                               Zxid zxid);

// Sessions, ACLs and nodes as a snapshot would have them. False when the sink does not want more.
bool give_state(const state::Machine& machine, storage::SnapshotSink& sink);

}  // namespace drover::tools
