// SPDX-License-Identifier: Apache-2.0
//
// The log thread's orders and answers. Orders run one after the other; each is durable before the next
// begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/ids.h"
#include "zab/effects.h"

namespace drover::server {

// The data on the disk is wrong: move it away and start empty.
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
  std::size_t orders = 1;  // kDurable: number of orders in this sync
  zab::EpochKind epoch_kind{};
  std::uint32_t epoch = 0;
  bool exact = false;  // kReloaded: the state matches the history exactly
};

}  // namespace drover::server
