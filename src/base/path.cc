// SPDX-License-Identifier: Apache-2.0
#include "base/path.h"

#include <cstdint>

#include "base/utf8.h"

namespace drover {
namespace {

bool is_forbidden_unit(std::uint32_t unit) {
  return (unit >= 0x0001 && unit <= 0x001F) || (unit >= 0x007F && unit <= 0x009F) ||
         (unit >= 0xD800 && unit <= 0xF8FF) || (unit >= 0xFFF0 && unit <= 0xFFFF);
}

bool is_plain(unsigned char c) { return c > 0x1F && c < 0x7F && c != '/' && c != '.'; }

bool is_relative_component(std::string_view component) { return component == "." || component == ".."; }

}  // namespace

std::string_view invalid_path_reason(std::string_view path) {
  if (path.empty()) return "path is empty";
  if (path.front() != '/') return "path does not start with /";
  if (path.size() == 1) return {};
  if (path.back() == '/') return "path ends with /";

  std::size_t component = 1;
  for (std::size_t i = 1; i < path.size();) {
    const auto c = static_cast<unsigned char>(path[i]);
    if (is_plain(c)) {
      ++i;
      continue;
    }
    if (c == 0) return "null character in path";
    if (c == '/') {
      if (i == component) return "empty node name";
      if (is_relative_component(path.substr(component, i - component))) return "relative path";
      component = ++i;
      continue;
    }
    const DecodedChar decoded = decode_utf8(path.substr(i));
    // Beyond U+FFFF UTF-16 needs surrogates, which are forbidden units; malformed bytes decode to U+FFFD.
    if (decoded.code_point > 0xFFFF || is_forbidden_unit(decoded.code_point)) return "invalid character";
    i += decoded.length;
  }
  if (is_relative_component(path.substr(component))) return "relative path";
  return {};
}

bool is_within(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/" || ancestor.empty()) return true;
  return path.starts_with(ancestor) && (path.size() == ancestor.size() || path[ancestor.size()] == '/');
}

bool is_special_path(std::string_view path) {
  return path == kRootPath || path == kZooKeeperPath || path == kQuotaPath || path == kConfigPath;
}

}  // namespace drover
