// SPDX-License-Identifier: Apache-2.0
//
// The number that a server appends to a sequential node, and its order.
//
// It is a signed 32-bit counter of the parent: after 2147483647 comes -2147483648, which is one character
// longer. So neither "the last ten characters" nor "the part after the last dash" is correct, and comparing
// strings gives the wrong order at the wrap.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace drover::layouts {

// The whole text is such a number, in the form that servers write.
std::optional<std::int32_t> parse_sequence(std::string_view text);

// The number after the last occurrence of `marker`, such as "lock-", if it has the form that servers
// write.
std::optional<std::int32_t> sequence_of(std::string_view name, std::string_view marker);

// Compares in the order of the counter, for two numbers less than 2^31 apart.
constexpr bool comes_before(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b)) < 0;
}

// Curator and kazoo compare names as strings. In a directory shared with them, all agree on the order only up
// to here; then the parent must be deleted.
constexpr bool is_safe_to_share(std::int32_t sequence) {
  constexpr std::int32_t kMargin = 1 << 20;
  return sequence >= 0 && sequence <= INT32_MAX - kMargin;
}

}  // namespace drover::layouts
