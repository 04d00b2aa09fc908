// SPDX-License-Identifier: Apache-2.0
//
// Ids with their own types, so that a session id cannot be passed as a zxid. The ids that users of the client
// also see are in include/drover.
#pragma once

#include <cstdint>
#include <utility>

#include "drover/ids.h"

namespace drover {

enum class ServerId : std::int64_t {};

constexpr std::uint32_t epoch_of(Zxid z) { return static_cast<std::uint32_t>(raw(z) >> 32); }
constexpr std::uint32_t counter_of(Zxid z) { return static_cast<std::uint32_t>(raw(z)); }
constexpr Zxid next(Zxid z) { return Zxid{raw(z) + 1}; }

static_assert(epoch_of(Zxid{0x0000'0007'0000'0002}) == 7);
// The zxid before the epoch's first transaction. Zab packets use it to name an epoch.
constexpr Zxid epoch_start(std::uint32_t epoch) { return Zxid{static_cast<std::int64_t>(epoch) << 32}; }
static_assert(epoch_of(epoch_start(7)) == 7);
static_assert(counter_of(Zxid{0x0000'0007'0000'0002}) == 2);

}  // namespace drover
