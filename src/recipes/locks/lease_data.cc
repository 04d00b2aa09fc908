// SPDX-License-Identifier: Apache-2.0
#include "recipes/locks/lease_data.h"

#include <cstdio>
#include <map>

namespace drover::recipes {
namespace {

using std::chrono::sys_seconds;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Parses a flat object of strings and integers, as in a lease. Everything else is refused.
class FlatObject {
 public:
  explicit FlatObject(std::string_view text) : rest_(text) {}

  std::optional<std::map<std::string, std::string>> read() {
    std::map<std::string, std::string> fields;
    if (!take('{')) return std::nullopt;
    do {
      const auto key = string();
      if (!key || !take(':')) return std::nullopt;
      const auto value = is_next('"') ? string() : number();
      if (!value) return std::nullopt;
      fields[*key] = *value;
    } while (take(','));
    if (!take('}') || !at_end()) return std::nullopt;
    return fields;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool is_next(char c) {
    skip_space();
    return rest_.starts_with(c);
  }
  bool at_end() {
    skip_space();
    return rest_.empty();
  }
  bool take(char c) {
    if (!is_next(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> number() {
    std::string digits;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; rest_.remove_prefix(1))
      digits += rest_.front();
    if (digits.empty()) return std::nullopt;
    return digits;
  }
  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    std::string out;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\') {
        if (!escape(out)) return std::nullopt;
      } else {
        out += rest_.front();
        rest_.remove_prefix(1);
      }
    }
    if (!take('"')) return std::nullopt;
    return out;
  }
  // Python escapes all non-ASCII characters like this.
  bool escape(std::string& out) {
    if (rest_.size() < 2) return false;
    const char kind = rest_[1];
    if (kind != 'u') {
      constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
      const std::size_t at = kFrom.find(kind);
      if (at == std::string_view::npos) return false;
      out += kTo[at];
      rest_.remove_prefix(2);
      return true;
    }
    if (rest_.size() < 6) return false;
    unsigned code = 0;
    for (const char c : rest_.substr(2, 4)) {
      constexpr std::string_view kHex = "0123456789abcdef";
      const std::size_t digit = kHex.find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
      if (digit == std::string_view::npos) return false;
      code = code * 16 + static_cast<unsigned>(digit);
    }
    rest_.remove_prefix(6);
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      out += static_cast<char>(0xe0 | code >> 12);
      out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      out += static_cast<char>(0x80 | (code & 0x3f));
    }
    return true;
  }

  std::string_view rest_;
};

std::optional<sys_seconds> parse_time(const std::string& text) {
  int year = 0, hour = 0, minute = 0, second = 0, end = 0;
  unsigned month = 0, day = 0;
  const int fields = std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d%n", &year, &month, &day, &hour,
                                 &minute, &second, &end);
  if (fields != 6 || static_cast<std::size_t>(end) != text.size()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  const bool clock = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 61;
  if (!date.ok() || !clock) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

std::string print_time(sys_seconds time) {
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(time - days);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

}  // namespace

std::string encode_lease(const LeaseData& lease) {
  return R"({"version": 1, "holder": )" + quoted(lease.holder) + R"(, "end": ")" + print_time(lease.end) +
         "\"}";
}

std::optional<LeaseData> decode_lease(std::string_view text) {
  const auto fields = FlatObject(text).read();
  if (!fields || !fields->contains("holder") || !fields->contains("end")) return std::nullopt;
  const auto version = fields->find("version");
  if (version == fields->end() || version->second != "1") return std::nullopt;
  const auto end = parse_time(fields->at("end"));
  if (!end) return std::nullopt;
  return LeaseData{fields->at("holder"), *end};
}

}  // namespace drover::recipes
