// SPDX-License-Identifier: Apache-2.0
//
// UTF-8 as Java's decoder reads it: malformed input becomes U+FFFD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace drover {

struct DecodedChar {
  std::uint32_t code_point;  // U+FFFD when malformed
  std::size_t length;        // bytes consumed, at least 1
};

// True if the bytes were malformed; false for a U+FFFD that is in the text.
constexpr bool is_malformed(DecodedChar c) { return c.code_point == 0xFFFD && c.length == 1; }

// Decodes the first character of `text`, which must not be empty.
DecodedChar decode_utf8(std::string_view text);

// Replaces every malformed byte by U+FFFD, as a conversion to a Java String and back does.
std::string to_valid_utf8(std::string_view text);

}  // namespace drover
