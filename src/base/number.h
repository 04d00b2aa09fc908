// SPDX-License-Identifier: Apache-2.0
//
// Numbers in text, the one parser for all folders.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace drover {

// The whole text as a number; a `-` only for signed types. Nullopt: empty, out of range, or anything else in
// the text, such as a blank, a `+` or "0x".
template <class Number>
std::optional<Number> parse_number(std::string_view text, int radix = 10) {
  Number number{};
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(text.data(), text.data() + text.size(), number);
  } else {
    read = std::from_chars(text.data(), text.data() + text.size(), number, radix);
  }
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace drover
