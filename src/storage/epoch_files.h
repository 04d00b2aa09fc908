// SPDX-License-Identifier: Apache-2.0
//
// The two promises of a voter that must survive a crash: the epoch that it follows (`currentEpoch`) and the
// epoch that it promised to follow next (`acceptedEpoch`). Decimal text, as Java writes them.
//
// `currentEpoch` has a second line, which Java servers neither read nor keep: the id of the history that the
// epoch belongs to, in hexadecimal. It distinguishes this history from one that a quorum of empty servers
// started from scratch (zab/leader.h).
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

// Returns nothing if the file does not exist, and an error with code 0 if it holds no number.
IoResult<std::optional<std::uint32_t>> read_epoch(Disk& disk, const std::string& directory, EpochFile which);
// The history id from `currentEpoch`; 0 if unknown.
IoResult<std::uint64_t> read_history_id(Disk& disk, const std::string& directory);
// Durable when it returns. A failure ends the process.
IoResult<void> write_epoch(Disk& disk, const std::string& directory, EpochFile which, std::uint32_t epoch,
                           std::uint64_t history_id = 0);

struct Epochs {
  std::uint32_t current = 0;
  std::uint32_t accepted = 0;
  std::uint64_t history_id = 0;  // the history that `current` belongs to; 0: unknown
  std::vector<std::string> findings;
};

// Loads both files at the start of a server, whose last transaction on disk is `last`; creates missing files.
// Accepts every state that a crash between our own steps can leave.
IoResult<Epochs> load_epochs(Disk& disk, const std::string& directory, Zxid last);

}  // namespace drover::storage
