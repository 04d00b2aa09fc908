// SPDX-License-Identifier: Apache-2.0
//
// Converts the text of one value to a field: numbers, switches, lists, choices.
//
// Java reads keys in two ways, and so do we. Keys of zoo.cfg itself go through Integer.parseInt, and switches
// accept only true and false. System properties go through Integer.decode (so 0xfffff is a number), and every
// switch value except "true" means false. Here such a value at least causes a warning.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.h"

namespace drover::server {

// The result of setting a value. The sentence follows `key=value: ` in messages.
struct Verdict {
  enum class Kind { kAccepted, kWarned, kRejected };
  Kind kind = Kind::kAccepted;
  std::string sentence;

  static Verdict accepted() { return {}; }
  static Verdict warned(std::string sentence) { return {Kind::kWarned, std::move(sentence)}; }
  static Verdict rejected(std::string sentence) { return {Kind::kRejected, std::move(sentence)}; }
};

using Setter = std::function<Verdict(std::string_view value)>;

enum class Notation { kDecimal, kDecode };

// Integer.parseInt or Integer.decode, for 64 bits. None: not a number, or too large.
std::optional<std::int64_t> parse_whole_number(std::string_view text, Notation notation);

inline constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kInt32Min = std::numeric_limits<std::int32_t>::min();

struct Range {
  std::int64_t min = 0;
  std::int64_t max = kInt32Max;
  std::string_view unit = {};  // "milliseconds"
  // Java raises a value below the minimum to the minimum, with a warning. An error would break configurations
  // that work today.
  bool raise = false;
};

std::string expected_number(const Range& range);
Verdict judge_number(std::string_view text, Notation notation, const Range& range, std::int64_t& number);

template <class Target>
Setter number(Target& target, Notation notation, Range range) {
  return [&target, notation, range](std::string_view value) {
    std::int64_t parsed = 0;
    Verdict verdict = judge_number(value, notation, range, parsed);
    if (verdict.kind != Verdict::Kind::kRejected) target = static_cast<Target>(parsed);
    return verdict;
  };
}
template <class Target>
Setter number(std::optional<Target>& target, Notation notation, Range range) {
  return [&target, notation, range](std::string_view value) {
    std::int64_t parsed = 0;
    Verdict verdict = judge_number(value, notation, range, parsed);
    if (verdict.kind != Verdict::Kind::kRejected) target = static_cast<Target>(parsed);
    return verdict;
  };
}

// For keys of zoo.cfg.
template <class Target>
Setter decimal(Target& target, Range range = {}) {
  return number(target, Notation::kDecimal, range);
}
// For system properties.
template <class Target>
Setter decoded(Target& target, Range range = {}) {
  return number(target, Notation::kDecode, range);
}
inline constexpr Range kPortRange{.min = 0, .max = 65535};

// A limit for which Java treats 0 and negative numbers as "no limit"; stored as 0.
Setter optional_limit(int& target, Notation notation);
// A number from 0 to 1.
Setter fraction(double& target);
// The same, or a negative number, which turns something off.
Setter fraction_or_off(double& target);
// The field is bytes, the value is kilobytes.
Setter kilobytes(std::int64_t& target, Range range);
// A plain number is hours; otherwise a suffix ms, s, m, h or d follows.
Setter interval_in_hours(std::int64_t& target_ms);
// "256MB", "1GB", "512KB" or bytes.
Setter file_size(std::int64_t& target);

Setter strict_switch(bool& target);
Setter lenient_switch(bool& target);
Setter lenient_switch(std::optional<bool>& target);
// A switch with words: `word` sets it to `when_equal`, everything else to the opposite; `other` is the usual
// opposite word.
struct WordSwitch {
  std::string_view word;
  std::string_view other;
  bool when_equal;
};
Setter word_switch(bool& target, WordSwitch words);

// Names of files, hosts and users. Control characters are rejected: no such name has them, and a NUL would
// cut a path short.
Setter text(std::string& target);
Setter non_empty_text(std::string& target);
Setter non_empty_text(std::optional<std::string>& target);
Setter secret_text(Secret& target);
// Comma separated. Blanks around items and empty items are dropped.
Setter list(std::vector<std::string>& target);

bool has_control_character(std::string_view text);
std::vector<std::string> split_list(std::string_view text, char separator = ',');
bool equal_ignoring_case(std::string_view a, std::string_view b);
// "expected none, want or need".
std::string expected_choice(const std::vector<std::string_view>& names);

// One of a few words, case-insensitive.
template <class Target>
Setter choice(Target& target, std::vector<std::pair<std::string_view, Target>> choices) {
  return [&target, choices = std::move(choices)](std::string_view value) {
    std::vector<std::string_view> names;
    for (const auto& [name, meaning] : choices) {
      if (equal_ignoring_case(name, value)) {
        target = meaning;
        return Verdict::accepted();
      }
      names.push_back(name);
    }
    return Verdict::rejected(expected_choice(names));
  };
}

}  // namespace drover::server
