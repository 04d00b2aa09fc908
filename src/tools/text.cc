// SPDX-License-Identifier: Apache-2.0
#include "tools/text.h"

#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/number.h"
#include "base/utf8.h"
#include "state/ephemeral_owner.h"

namespace drover::tools {
namespace {

using wire::OpCode;

constexpr std::int64_t kLastDateMs = 253'402'300'799'999;  // the end of year 9999

constexpr std::array kOpNames{
    std::pair{OpCode::kCreate, std::string_view("create")},
    std::pair{OpCode::kCreate2, std::string_view("create2")},
    std::pair{OpCode::kCreateContainer, std::string_view("createContainer")},
    std::pair{OpCode::kCreateTtl, std::string_view("createTtl")},
    std::pair{OpCode::kDelete, std::string_view("delete")},
    std::pair{OpCode::kDeleteContainer, std::string_view("deleteContainer")},
    std::pair{OpCode::kSetData, std::string_view("setData")},
    std::pair{OpCode::kSetAcl, std::string_view("setACL")},
    std::pair{OpCode::kCheck, std::string_view("check")},
    std::pair{OpCode::kMulti, std::string_view("multi")},
    std::pair{OpCode::kReconfig, std::string_view("reconfig")},
    std::pair{OpCode::kCreateSession, std::string_view("createSession")},
    std::pair{OpCode::kCloseSession, std::string_view("closeSession")},
    std::pair{OpCode::kError, std::string_view("error")},
};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// C1 controls are two bytes in UTF-8, but some terminals read them as escapes.
bool shows(const DecodedChar& c) {
  if (is_malformed(c)) return false;
  return c.code_point >= 0xA0 || (c.code_point >= 0x20 && c.code_point < 0x7f && c.code_point != '\\');
}

std::string permissions(std::int32_t perms) {
  std::string text;
  if (perms & wire::kCreate) text += 'c';
  if (perms & wire::kDelete) text += 'd';
  if (perms & wire::kRead) text += 'r';
  if (perms & wire::kWrite) text += 'w';
  if (perms & wire::kAdmin) text += 'a';
  return text;
}

}  // namespace

std::string time_text(std::int64_t ms) {
  if (ms < 0 || ms > kLastDateMs) return fmt::format("{} ms", ms);
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds{ms}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string moment_text(std::int64_t ms) {
  std::string text;
  for (const char c : time_text(ms).substr(0, 19)) {
    if (c != '-' && c != ':') text += c;
  }
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  constexpr std::array units{"kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (value /= 1000; value >= 1000 && unit + 1 < units.size(); value /= 1000) ++unit;
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const DecodedChar c = decode_utf8(text);
    if (shows(c)) {
      out += text.substr(0, c.length);
    } else {
      for (const char byte : text.substr(0, c.length)) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    text.remove_prefix(c.length);
  }
  return out;
}

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    const char first = bytes.front();
    if (is_control(first) && first != '\n' && first != '\t' && first != '\r') return false;
    const DecodedChar c = decode_utf8(bytes);
    if (is_malformed(c)) return false;
    bytes.remove_prefix(c.length);
  }
  return true;
}

std::string data_text(const wire::Nullable& data, std::size_t bytes_max) {
  if (!data) return "null";
  if (data->size() <= bytes_max) return '"' + printable(*data) + '"';
  return '"' + printable(data->substr(0, bytes_max)) + fmt::format("\"… of {} bytes", data->size());
}

std::string acl_text(std::string_view jute_list) {
  wire::Reader r(jute_list);
  const std::vector<wire::Acl> list = wire::decode_acl_list(r);
  if (!r.ok()) return "unreadable";
  std::string text;
  for (const wire::Acl& acl : list) {
    if (!text.empty()) text += ',';
    text += printable(acl.who.scheme) + ':' + printable(acl.who.id) + ':' + permissions(acl.perms);
  }
  return text;
}

std::string_view op_name(OpCode op) {
  for (const auto& [code, name] : kOpNames) {
    if (code == op) return name;
  }
  return "unknown";
}

std::optional<OpCode> op_of_name(std::string_view name) {
  for (const auto& [code, known] : kOpNames) {
    if (known == name) return code;
  }
  return std::nullopt;
}

std::string_view kind_text(std::int64_t owner) {
  switch (state::kind_of(owner, /*extended_types=*/true)) {
    case state::NodeKind::kPersistent: return "persistent";
    case state::NodeKind::kEphemeral: return "ephemeral";
    case state::NodeKind::kContainer: return "container";
    case state::NodeKind::kTtl: return "ttl";
  }
  return "persistent";
}

std::optional<std::int64_t> parse_id(std::string_view text) {
  const bool in_hex = text.starts_with("0x") || text.starts_with("0X");
  if (in_hex) text.remove_prefix(2);
  const auto value = parse_number<std::uint64_t>(text, in_hex ? 16 : 10);
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

}  // namespace drover::tools
