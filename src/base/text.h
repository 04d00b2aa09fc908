// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them in log lines and errors.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

#include "base/ids.h"

namespace drover {

// With 0x in front, as zxids and session ids are written everywhere.
inline std::string hex_text(std::uint64_t value) {
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, 16);
  return "0x" + std::string(digits, end);
}
inline std::string hex_text(Zxid zxid) { return hex_text(static_cast<std::uint64_t>(raw(zxid))); }

}  // namespace drover
