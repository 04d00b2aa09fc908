// SPDX-License-Identifier: Apache-2.0
//
// What the log thread can be asked to do, and what it answers: one order after the other, each durable before
// the next begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/ids.h"
#include "zab/effects.h"

namespace drover::server {

// What is on the disk is not what it should be: put it away and begin with nothing.
struct DiscardHistory {};

using LogOrder = std::variant<zab::AppendTxns, zab::SaveEpoch, zab::TruncateLog, zab::SaveSnapshot,
                              zab::ReloadState, DiscardHistory>;

struct LogAnswer {
  enum class Kind : std::uint8_t {
    kDurable,
    kEpochSaved,
    kTruncated,
    kNotTruncated,
    kStateSaved,
    kReloaded,
    kDiscarded
  };
  Kind kind{};
  Zxid last{};             // kDurable
  std::size_t orders = 1;  // kDurable: how many orders one sync has served
  zab::EpochKind epoch_kind{};
  std::uint32_t epoch = 0;
  bool exact = false;  // kReloaded: the state is exactly what the history makes
};

}  // namespace drover::server
