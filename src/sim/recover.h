// SPDX-License-Identifier: Apache-2.0
//
// Reads a data directory into a state and a window of recent history, as a server does at its start, and when
// it must reload its state.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/machine.h"
#include "storage/data_dir.h"
#include "storage/disk.h"
#include "storage/recovery.h"
#include "zab/history.h"

namespace drover::sim {

struct Recovered {
  storage::RecoveryReport report;
  zab::History history;
  // The state is exactly what the history produces, not a leader's that was ahead of its zxid.
  bool exact = true;
  std::vector<std::string> contradictions;  // between the state and the digests in its files
  bool contradicted = false;                // by the last digest
};

// `on_known` is called for every transaction in the log.
IoResult<Recovered> recover_state(storage::Disk& disk, const storage::DataDirs& dirs, state::Machine& machine,
                                  const zab::WindowLimits& window,
                                  const std::function<void(std::string_view entry)>& on_known,
                                  bool repair = true);

}  // namespace drover::sim
