// SPDX-License-Identifier: Apache-2.0
//
// A data directory becomes a state and a window of recent history: what a server does at its start, and when
// it must read its state anew.
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
  // The state is exactly what the history makes, not a leader's that was ahead of its name.
  bool exact = true;
  std::vector<std::string> contradictions;  // between the state and what its files say of it
  bool contradicted = false;                // by the last digest
};

// `on_known` hears of every transaction in the log.
IoResult<Recovered> recover_state(storage::Disk& disk, const storage::DataDirs& dirs, state::Machine& machine,
                                  const zab::WindowLimits& window,
                                  const std::function<void(std::string_view entry)>& on_known,
                                  bool repair = true);

}  // namespace drover::sim
