// SPDX-License-Identifier: Apache-2.0
//
// One auth_to_local rule: parses it and maps a principal to a name.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace drover::sasl {

// The parts of "RULE:[components:format](match)s/from/to/g".
struct RuleText {
  bool is_default = false;
  std::size_t components = 0;
  std::string format = {};
  std::optional<std::string> match = {};
  std::optional<std::string> from = {};
  std::string to = {};
  bool repeat = false;
};

class RuleScanner {
 public:
  explicit RuleScanner(std::string_view rules);
  bool at_end() const { return rest_.empty(); }
  std::expected<RuleText, std::string> next();

 private:
  bool take(std::string_view word);
  std::optional<std::string> until(char end);
  std::optional<RuleText> rule();
  bool substitution(RuleText& rule);

  std::string_view rest_;
};

class AuthToLocalRule {
 public:
  static std::expected<AuthToLocalRule, std::string> compile(const RuleText& text);

  // `words` are the realm, the service and the host, if there is one.
  std::optional<std::string> apply(const std::vector<std::string>& words) const;

 private:
  // Text, and then the word or the group of this number.
  struct Part {
    std::string text;
    std::optional<std::size_t> number;
  };
  using Parts = std::vector<Part>;

  static std::optional<Parts> parse_format(const RuleText& text);
  static std::optional<Parts> parse_replacement(const std::string& text, std::size_t groups);
  std::string substitute(const std::string& base) const;

  std::size_t components_ = 0;
  Parts format_;
  std::optional<std::regex> match_;
  std::optional<std::regex> from_;
  Parts to_;
  bool repeat_ = false;
};

}  // namespace drover::sasl
