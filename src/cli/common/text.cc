// SPDX-License-Identifier: Apache-2.0
#include "cli/common/text.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/common/human_text.h"

namespace drover::cli {
namespace {

struct Letter {
  char letter;
  Permission permission;
};
// The order in which they are printed.
constexpr std::array kLetters{Letter{'c', Permission::kCreate}, Letter{'d', Permission::kDelete},
                              Letter{'r', Permission::kRead}, Letter{'w', Permission::kWrite},
                              Letter{'a', Permission::kAdmin}};

Permission parse_permissions(std::string_view text, std::vector<std::string>& complaints) {
  auto permissions = Permission{};
  for (const char c : text) {
    bool known = false;
    for (const Letter& each : kLetters) {
      if (each.letter != c) continue;
      permissions = permissions | each.permission;
      known = true;
    }
    if (!known) complaints.push_back(std::string("Unknown perm type: ") + c);
  }
  return permissions;
}

bool is_forbidden(std::uint32_t c) {
  return c <= 0x1F || (c >= 0x7F && c <= 0x9F) || (c >= 0xD800 && c <= 0xF8FF) || c >= 0xFFF0;
}

// Positions are counted in UTF-16 units, as in Java.
std::optional<std::string> bad_character(std::string_view path) {
  std::size_t place = 1;
  std::string_view component;
  for (std::size_t i = 1, start = 1; i <= path.size();) {
    const bool ends = i == path.size() || path[i] == '/';
    if (ends) {
      component = path.substr(start, i - start);
      if (component.empty()) return fmt::format("empty node name specified @{}", place);
      if (component == "." || component == "..") {
        return fmt::format("relative paths not allowed @{}", place - 1);
      }
      start = ++i;
      ++place;
      continue;
    }
    if (path[i] == '\0') return fmt::format("null character not allowed @{}", place);
    const DecodedChar decoded = decode_utf8(path.substr(i));
    if (is_malformed(decoded) || is_forbidden(decoded.code_point)) {
      return fmt::format("invalid character @{}", place);
    }
    i += decoded.length;
    ++place;
  }
  return std::nullopt;
}

}  // namespace

std::string date_text(std::int64_t ms) {
  std::time_t seconds = ms / 1000 - (ms % 1000 < 0 ? 1 : 0);
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) return std::to_string(ms);
  constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{} {} {:02} {:02}:{:02}:{:02} {} {}", kDays.at(static_cast<std::size_t>(parts.tm_wday)),
                     kMonths.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_mday, parts.tm_hour,
                     parts.tm_min, parts.tm_sec, parts.tm_zone, parts.tm_year + 1900);
}

std::string stat_text(const Stat& stat) {
  return fmt::format(
      "cZxid = {}\nctime = {}\nmZxid = {}\nmtime = {}\npZxid = {}\ncversion = {}\ndataVersion = {}\n"
      "aclVersion = {}\nephemeralOwner = {}\ndataLength = {}\nnumChildren = {}\n",
      hex_text(stat.czxid), date_text(stat.ctime_ms), hex_text(stat.mzxid), date_text(stat.mtime_ms),
      hex_text(stat.pzxid), stat.cversion, std::to_underlying(stat.version),
      std::to_underlying(stat.aversion), hex_text(stat.ephemeral_owner), stat.data_length, stat.num_children);
}

std::string list_text(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) {
    if (text.size() > 1) text += ", ";
    text += item;
  }
  return text + "]";
}

std::string permissions_text(Permission permissions) {
  std::string text;
  for (const Letter& each : kLetters) {
    if ((std::to_underlying(permissions) & std::to_underlying(each.permission)) != 0) text += each.letter;
  }
  return text;
}

std::string acl_text(const std::vector<Acl>& acl) {
  std::string text;
  for (const Acl& each : acl) {
    text += fmt::format("'{},'{}\n: {}\n", observe::safe_text(each.scheme), observe::safe_text(each.id),
                        permissions_text(each.permissions));
  }
  return text;
}

std::vector<Acl> parse_acl(std::string_view text, std::vector<std::string>& complaints) {
  std::vector<std::string_view> entries;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    entries.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  // Java's split() drops trailing empty parts, but keeps a single empty one.
  while (!text.empty() && !entries.empty() && entries.back().empty()) entries.pop_back();
  std::vector<Acl> acl;
  for (const std::string_view entry : entries) {
    const std::size_t first = entry.find(':');
    const std::size_t last = entry.rfind(':');
    if (first == std::string_view::npos || first == last) {
      complaints.push_back(std::string(entry) + " does not have the form scheme:id:perm");
      continue;
    }
    acl.push_back({parse_permissions(entry.substr(last + 1), complaints), std::string(entry.substr(0, first)),
                   std::string(entry.substr(first + 1, last - first - 1))});
  }
  return acl;
}

std::optional<std::string> path_problem(std::string_view path) {
  if (path.empty()) return "Path length must be > 0";
  if (path.front() != '/') return "Path must start with / character";
  if (path.size() == 1) return std::nullopt;
  if (path.back() == '/') return "Path must not end with / character";
  const auto reason = bad_character(path);
  if (!reason) return std::nullopt;
  return fmt::format("Invalid path string \"{}\" caused by {}", path, *reason);
}

std::optional<std::int64_t> parse_long(std::string_view text, int base) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  return parse_number<std::int64_t>(text, base);
}

std::optional<std::int32_t> parse_int(std::string_view text) {
  const auto value = parse_long(text);
  if (!value || *value < INT32_MIN || *value > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::string hex_dump(std::string_view bytes) {
  constexpr std::size_t kRow = 16;
  constexpr std::string_view kEdge =
      "+--------+-------------------------------------------------+----------------+";
  if (bytes.empty()) return {};
  std::string text =
      "         +-------------------------------------------------+\n"
      "         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |\n";
  text += fmt::format("{}\n", kEdge);
  for (std::size_t at = 0; at < bytes.size(); at += kRow) {
    std::string numbers;
    std::string characters;
    for (const char c : bytes.substr(at, kRow)) {
      numbers += fmt::format(" {:02x}", static_cast<unsigned char>(c));
      characters += c >= 0x20 && c < 0x7F ? c : '.';
    }
    text += fmt::format("|{:08x}|{:<48} |{:<16}|\n", at, numbers, characters);
  }
  return text += kEdge;
}

std::string printable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const DecodedChar decoded = decode_utf8(bytes);
    const bool control =
        decoded.code_point < 0x20 || (decoded.code_point >= 0x7F && decoded.code_point < 0xA0);
    const bool shown = !is_malformed(decoded) && (!control || bytes[0] == '\n' || bytes[0] == '\t');
    text += shown ? bytes.substr(0, decoded.length) : "\xEF\xBF\xBD";
    bytes.remove_prefix(decoded.length);
  }
  return text;
}

}  // namespace drover::cli
