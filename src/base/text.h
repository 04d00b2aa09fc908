// SPDX-License-Identifier: Apache-2.0
//
// Text helpers for all folders, also for the recipes and the shell (tests/layering).
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace drover {

// "0x1f": the format of zxids and session ids everywhere.
inline std::string hex_text(std::uint64_t value) {
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, 16);
  return "0x" + std::string(digits, end);
}
template <class Id>
  requires std::is_enum_v<Id>
std::string hex_text(Id id) {
  return hex_text(static_cast<std::uint64_t>(id));
}

// Same as Java's String.trim().
constexpr std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}
static_assert(trimmed(" \ta b\r\n") == "a b");

}  // namespace drover
