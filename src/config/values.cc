// SPDX-License-Identifier: Apache-2.0
#include "config/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "base/text.h"

namespace drover::server {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// Returns the radix of a number in Integer.decode's notation and removes its prefix.
int take_radix(std::string_view& digits) {
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    digits.remove_prefix(2);
    return 16;
  }
  if (digits.starts_with('#')) {
    digits.remove_prefix(1);
    return 16;
  }
  if (digits.size() > 1 && digits.front() == '0') {
    digits.remove_prefix(1);
    return 8;
  }
  return 10;
}

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};

// Parses `text` as a number with one of `units` as suffix. A unit with an empty suffix comes last.
std::optional<std::int64_t> parse_with_unit(std::string_view text, std::initializer_list<Unit> units) {
  for (const Unit& unit : units) {
    if (text.size() < unit.suffix.size()) continue;
    const std::size_t digits = text.size() - unit.suffix.size();
    if (!equal_ignoring_case(text.substr(digits), unit.suffix)) continue;
    const auto count = parse_whole_number(trimmed(text.substr(0, digits)), Notation::kDecimal);
    if (!count) continue;  // "5ms" ends in "s" too
    std::int64_t product = 0;
    if (*count < 0 || __builtin_mul_overflow(*count, unit.factor, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

}  // namespace

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (const std::string_view item = trimmed(text.substr(0, end)); !item.empty()) items.emplace_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

std::string expected_choice(const std::vector<std::string_view>& names) {
  std::string sentence = "expected ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) sentence += i + 1 == names.size() ? " or " : ", ";
    sentence += names[i].empty() ? "nothing" : names[i];
  }
  return sentence;
}

std::optional<std::int64_t> parse_whole_number(std::string_view text, Notation notation) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const int radix = notation == Notation::kDecode ? take_radix(text) : 10;
  if (text.starts_with('-')) return std::nullopt;  // parse_number() would accept a second sign
  const auto value = parse_number<std::int64_t>(text, radix);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

std::string expected_number(const Range& range) {
  const std::string what =
      range.unit.empty() ? "a whole number" : fmt::format("a whole number of {}", range.unit);
  return fmt::format("expected {} from {} to {}", what, range.min, range.max);
}

Verdict judge_number(std::string_view text, Notation notation, const Range& range, std::int64_t& number) {
  const auto parsed = parse_whole_number(text, notation);
  if (parsed && *parsed < range.min && range.raise) {
    number = range.min;
    return Verdict::warned(fmt::format("too small; {} is used", range.min));
  }
  if (!parsed || *parsed < range.min || *parsed > range.max) return Verdict::rejected(expected_number(range));
  number = *parsed;
  return Verdict::accepted();
}

Setter optional_limit(int& target, Notation notation) {
  return [&target, notation](std::string_view value) {
    std::int64_t parsed = 0;
    Verdict verdict = judge_number(value, notation, {.min = kInt32Min}, parsed);
    if (verdict.kind != Verdict::Kind::kRejected)
      target = static_cast<int>(std::max<std::int64_t>(parsed, 0));
    return verdict;
  };
}

Setter fraction(double& target) {
  return [&target](std::string_view value) {
    const auto parsed = parse_number<double>(value);
    if (!parsed || !(*parsed >= 0 && *parsed <= 1)) return Verdict::rejected("expected a number from 0 to 1");
    target = *parsed;
    return Verdict::accepted();
  };
}

Setter fraction_or_off(double& target) {
  return [&target](std::string_view value) {
    const auto parsed = parse_number<double>(value);
    if (!parsed || std::isnan(*parsed))
      return Verdict::rejected("expected a number from 0 to 1, or a negative number");
    if (*parsed > 1)
      return Verdict::warned(fmt::format("larger than 1; {} is used, as in ZooKeeper", target));
    target = *parsed;
    return Verdict::accepted();
  };
}

Setter kilobytes(std::int64_t& target, Range range) {
  range.unit = "kilobytes";
  return [&target, range](std::string_view value) {
    std::int64_t parsed = 0;
    Verdict verdict = judge_number(value, Notation::kDecode, range, parsed);
    if (verdict.kind != Verdict::Kind::kRejected) target = parsed * 1024;
    return verdict;
  };
}

Setter interval_in_hours(std::int64_t& target_ms) {
  return [&target_ms](std::string_view value) {
    constexpr std::int64_t kSecond = 1000;
    const auto parsed = parse_with_unit(value, {{"ms", 1},
                                                {"s", kSecond},
                                                {"m", 60 * kSecond},
                                                {"h", 3600 * kSecond},
                                                {"d", 24 * 3600 * kSecond},
                                                {"", 3600 * kSecond}});
    if (!parsed) return Verdict::rejected("expected hours, or a whole number followed by ms, s, m, h or d");
    target_ms = *parsed;
    return Verdict::accepted();
  };
}

Setter file_size(std::int64_t& target) {
  return [&target](std::string_view value) {
    const auto parsed = parse_with_unit(value, {{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"", 1}});
    if (!parsed || *parsed == 0) return Verdict::rejected("expected a size such as 256MB");
    target = *parsed;
    return Verdict::accepted();
  };
}

Setter strict_switch(bool& target) {
  return [&target](std::string_view value) {
    const bool on = equal_ignoring_case(value, "true");
    if (!on && !equal_ignoring_case(value, "false")) return Verdict::rejected("expected true or false");
    target = on;
    return Verdict::accepted();
  };
}

Setter lenient_switch(bool& target) {
  return [&target](std::string_view value) {
    target = equal_ignoring_case(value, "true");
    if (target || equal_ignoring_case(value, "false")) return Verdict::accepted();
    return Verdict::warned("neither true nor false; false is used");
  };
}

Setter lenient_switch(std::optional<bool>& target) {
  return [&target](std::string_view value) { return lenient_switch(target.emplace())(value); };
}

Setter word_switch(bool& target, WordSwitch words) {
  return [&target, words](std::string_view value) {
    target = (value == words.word) == words.when_equal;
    if (value == words.word || value == words.other) return Verdict::accepted();
    return Verdict::warned(
        fmt::format("neither {} nor {}; {} is used", words.word, words.other, words.other));
  };
}

Setter text(std::string& target) {
  return [&target](std::string_view value) {
    if (has_control_character(value)) return Verdict::rejected("must not contain control characters");
    target = value;
    return Verdict::accepted();
  };
}

Setter non_empty_text(std::string& target) {
  return [&target](std::string_view value) {
    if (value.empty()) return Verdict::rejected("must not be empty");
    return text(target)(value);
  };
}

Setter non_empty_text(std::optional<std::string>& target) {
  return [&target](std::string_view value) { return non_empty_text(target.emplace())(value); };
}

Setter secret_text(Secret& target) {
  return [&target](std::string_view value) {
    target = Secret(std::string(value));
    return Verdict::accepted();
  };
}

Setter list(std::vector<std::string>& target) {
  return [&target](std::string_view value) {
    target = split_list(value);
    return Verdict::accepted();
  };
}

}  // namespace drover::server
