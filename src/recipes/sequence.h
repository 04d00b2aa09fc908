// SPDX-License-Identifier: Apache-2.0
//
// The number that a server puts behind the name of a sequential node, and the order it gives.
//
// It is a signed 32-bit counter of the parent: after 2147483647 comes -2147483648, with a sign and a digit
// more. So neither "the last ten characters" nor "what is behind the last dash" finds it, and comparing
// strings gets the order wrong where it wraps.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace drover::recipes {

// Of a name that has `marker` in it, such as "lock-": what follows its last occurrence, if that is a suffix
// as servers write it.
std::optional<std::int32_t> sequence_of(std::string_view name, std::string_view marker);

// In the order in which the counter counts, for any two that are less than 2^31 apart.
constexpr bool comes_before(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b)) < 0;
}

// Curator and kazoo compare names as strings. In a directory that is shared with them the order is the same
// for everybody only up to here; beyond, the parent has to be made anew.
constexpr bool is_safe_to_share(std::int32_t sequence) {
  constexpr std::int32_t kMargin = 1 << 20;
  return sequence >= 0 && sequence <= INT32_MAX - kMargin;
}

}  // namespace drover::recipes
