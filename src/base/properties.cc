// SPDX-License-Identifier: Apache-2.0
//
// Two steps, as in Java: natural lines are joined to logical lines, then each logical line is split and
// unescaped.
#include "base/properties.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/result.h"

namespace drover {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

struct LogicalLine {
  std::string text;  // escapes still inside
  int number = 0;
  int end = 0;  // the number of the line after it
};

class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}

  // The next line that is neither empty nor a comment.
  std::optional<LogicalLine> next() {
    LogicalLine line;
    while (!rest_.empty()) {
      if (line.text.empty()) line.number = line_number_;
      const std::string_view natural = take_natural_line();
      // After a backslash a comment sign is text, unless the backslash was alone on its line: Java only
      // checks whether the logical line has begun.
      if (line.text.empty() && (natural.starts_with('#') || natural.starts_with('!'))) continue;
      const bool continued = ends_in_odd_backslashes(natural);
      line.text += natural.substr(0, natural.size() - (continued ? 1 : 0));
      line.end = line_number_;
      if (!continued && !line.text.empty()) return line;
    }
    // The file ended after a backslash. (If that backslash is alone on its line, Java makes an entry without
    // a name.)
    return line.text.empty() ? std::nullopt : std::optional(line);
  }

 private:
  // Returns the line without leading blanks and without its end, which is \n, \r or \r\n.
  std::string_view take_natural_line() {
    const std::size_t end = rest_.find_first_of("\r\n");
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(line.size());
    if (rest_.starts_with("\r\n")) {
      rest_.remove_prefix(2);
    } else if (!rest_.empty()) {
      rest_.remove_prefix(1);
    }
    ++line_number_;
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    return line;
  }

  static bool ends_in_odd_backslashes(std::string_view line) {
    const std::size_t last_other = line.find_last_not_of('\\');
    const std::size_t count =
        last_other == std::string_view::npos ? line.size() : line.size() - 1 - last_other;
    return count % 2 == 1;
  }

  std::string_view rest_;
  int line_number_ = 1;
};

// Splits key and value: the key ends at the first unescaped separator or blank. Blanks around one separator
// belong to neither.
std::pair<std::string_view, std::string_view> split_entry(std::string_view line) {
  const auto is_separator = [](char c) { return c == '=' || c == ':'; };
  std::size_t end = 0;
  for (bool escaped = false; end < line.size(); ++end) {
    if (!escaped && (is_separator(line[end]) || is_blank(line[end]))) break;
    escaped = line[end] == '\\' && !escaped;
  }
  std::size_t value = end;
  for (bool separated = false; value < line.size(); ++value) {
    if (is_blank(line[value])) continue;
    if (separated || !is_separator(line[value])) break;
    separated = true;
  }
  return {line.substr(0, end), line.substr(value)};
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | (c >> 6));
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3f));
    put(0x80 | ((c >> 6) & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

// Parses the four hexadecimal digits after `\u`.
std::optional<std::uint32_t> utf16_unit(std::string_view digits) {
  if (digits.size() < 4) return std::nullopt;
  std::uint32_t unit = 0;
  for (const char c : digits.substr(0, 4)) {
    unit <<= 4;
    if (c >= '0' && c <= '9') {
      unit |= static_cast<std::uint32_t>(c - '0');
    } else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) {
      unit |= static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return unit;
}

bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

constexpr std::string_view kMalformedUnicode = "malformed \\uXXXX escape";

// Removes one \uXXXX, or a surrogate pair of two, from the front of `text`, which begins with `\u`.
bool take_unicode(std::string_view& text, std::string& out) {
  const auto unit = utf16_unit(text.substr(2));
  if (!unit) return false;
  text.remove_prefix(6);
  if (is_high_surrogate(*unit) && text.starts_with("\\u")) {
    const auto low = utf16_unit(text.substr(2));
    if (low && is_low_surrogate(*low)) {
      text.remove_prefix(6);
      append_utf8(out, 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
      return true;
    }
  }
  const bool lone = is_high_surrogate(*unit) || is_low_surrogate(*unit);
  append_utf8(out, lone ? 0xfffd : *unit);  // half a pair has no UTF-8 form
  return true;
}

char unescaped(char c) {
  switch (c) {
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case 'f': return '\f';
    default: return c;  // Java drops the backslash in front of anything else
  }
}

std::expected<std::string, PropertiesError> unescape(std::string_view text, int line) {
  std::string out;
  while (!text.empty()) {
    if (text.front() != '\\' || text.size() == 1) {
      out.push_back(text.front());
      text.remove_prefix(1);
    } else if (text[1] == 'u') {
      if (!take_unicode(text, out)) {
        return std::unexpected(PropertiesError{line, std::string(kMalformedUnicode)});
      }
    } else {
      out.push_back(unescaped(text[1]));
      text.remove_prefix(2);
    }
  }
  return out;
}

}  // namespace

std::expected<std::vector<Property>, PropertiesError> parse_properties(std::string_view text) {
  if (text.size() > kPropertiesBytesMax) {
    return std::unexpected(PropertiesError{0, "larger than 1 MiB: too large for a configuration"});
  }
  std::vector<Property> properties;
  LineReader lines(text);
  while (const auto line = lines.next()) {
    const auto [key, value] = split_entry(line->text);
    TRY_ASSIGN(std::string plain_key, unescape(key, line->number));
    TRY_ASSIGN(std::string plain_value, unescape(value, line->number));
    properties.push_back({std::move(plain_key), std::move(plain_value), line->number, line->end});
  }
  return properties;
}

}  // namespace drover
