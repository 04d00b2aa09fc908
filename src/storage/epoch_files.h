// SPDX-License-Identifier: Apache-2.0
//
// The two promises of a voter that must survive a crash: which epoch it follows (`currentEpoch`) and which
// it has promised to follow next (`acceptedEpoch`). Decimal text, as Java writes them.
//
// `currentEpoch` has a second line, which Java's servers do not read and do not keep: the id of the history
// that the epoch belongs to, in hexadecimal. It tells this history from one that a quorum of empty servers
// began anew (zab/leader.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "storage/disk.h"

namespace drover::storage {

enum class EpochFile { kCurrent, kAccepted };

// Nothing when the file does not exist; an error with code 0 when it holds no number.
IoResult<std::optional<std::uint32_t>> read_epoch(Disk& disk, const std::string& directory, EpochFile which);
// The history's id beside the epoch; 0: unknown.
IoResult<std::uint64_t> read_history_id(Disk& disk, const std::string& directory);
// Durable when it returns. A failure ends the process.
IoResult<void> write_epoch(Disk& disk, const std::string& directory, EpochFile which, std::uint32_t epoch,
                           std::uint64_t history_id = 0);

struct Epochs {
  std::uint32_t current = 0;
  std::uint32_t accepted = 0;
  std::uint64_t history_id = 0;  // of the history that `current` belongs to; 0: unknown
  std::vector<std::string> findings;
};

// Both files as a server may start with them, given the last transaction on its disk; missing ones are
// made. Every state that a crash between our own steps can leave is accepted.
IoResult<Epochs> load_epochs(Disk& disk, const std::string& directory, Zxid last);

}  // namespace drover::storage
