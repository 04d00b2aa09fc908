// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

namespace drover {
namespace {

constexpr DecodedChar kMalformed{0xFFFD, 1};

struct Lead {
  std::size_t length;      // of the whole sequence; 0 if no sequence starts with this byte
  std::uint32_t bits;      // payload of the lead byte
  std::uint32_t smallest;  // code points below are overlong
};

Lead lead_of(unsigned char c) {
  if (c < 0x80) return {1, c, 0};
  if ((c & 0xE0) == 0xC0) return {2, c & 0x1Fu, 0x80};
  if ((c & 0xF0) == 0xE0) return {3, c & 0x0Fu, 0x800};
  if ((c & 0xF8) == 0xF0) return {4, c & 0x07u, 0x10000};
  return {0, 0, 0};
}

}  // namespace

DecodedChar decode_utf8(std::string_view text) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[0]));
  if (lead.length == 0 || lead.length > text.size()) return kMalformed;

  std::uint32_t code = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c & 0xC0) != 0x80) return kMalformed;
    code = (code << 6) | (c & 0x3Fu);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < lead.smallest || code > 0x10FFFF || surrogate) return kMalformed;
  return {code, lead.length};
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const DecodedChar c = decode_utf8(text);
    out.append(is_malformed(c) ? std::string_view("\xEF\xBF\xBD") : text.substr(0, c.length));
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace drover
