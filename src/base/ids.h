// SPDX-License-Identifier: Apache-2.0
//
// Identities as types of their own, so that a session id can never be passed where a zxid is meant.
#pragma once

#include <cstdint>
#include <utility>

namespace drover {

// Position in the one total order of transactions: epoch in the high 32 bits, counter in the low 32.
enum class Zxid : std::int64_t {};
enum class SessionId : std::int64_t {};
enum class ServerId : std::int64_t {};

template <class Id>
constexpr std::int64_t raw(Id id) {
  return std::to_underlying(id);
}

constexpr std::uint32_t epoch_of(Zxid z) { return static_cast<std::uint32_t>(raw(z) >> 32); }
constexpr std::uint32_t counter_of(Zxid z) { return static_cast<std::uint32_t>(raw(z)); }
constexpr Zxid next(Zxid z) { return Zxid{raw(z) + 1}; }

static_assert(epoch_of(Zxid{0x0000'0007'0000'0002}) == 7);
static_assert(counter_of(Zxid{0x0000'0007'0000'0002}) == 2);

}  // namespace drover
