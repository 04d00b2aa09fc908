// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace drover {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\t': out += "\\t"; return;
    case '\r': out += "\\r"; return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte != 0x7F) {
    out += c;
    return;
  }
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  out += "\\u00";
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  const auto first_special = std::find_if_not(text.begin(), text.end(), is_plain);
  const auto plain = static_cast<std::size_t>(first_special - text.begin());
  out += '"';
  out += text.substr(0, plain);
  if (plain < text.size()) {
    for (const char c : to_valid_utf8(text.substr(plain))) append_escaped(out, c);
  }
  out += '"';
}

}  // namespace drover
