// SPDX-License-Identifier: Apache-2.0
#include "sasl/auth_to_local_rule.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "sasl/shared_regex.h"

namespace drover::sasl {
namespace {

constexpr std::size_t kBaseBytesMax = 1024;

// Java's \s.
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::size_t> number_of(std::string_view digits) {
  int value = 0;  // Java's range
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return static_cast<std::size_t>(value);
}

}  // namespace

// ---- RuleScanner ---------------------------------------------------------------------------------

RuleScanner::RuleScanner(std::string_view rules) : rest_(trimmed(rules)) {}

bool RuleScanner::take(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

// The text before `end`, which is taken, too.
std::optional<std::string> RuleScanner::until(char end) {
  const std::size_t length = rest_.find(end);
  if (length == std::string_view::npos) return std::nullopt;
  std::string text(rest_.substr(0, length));
  rest_.remove_prefix(length + 1);
  return text;
}

bool RuleScanner::substitution(RuleText& rule) {
  rule.from = until('/');
  if (!rule.from) return false;
  std::optional<std::string> to = until('/');
  if (!to) return false;
  rule.to = *std::move(to);
  rule.repeat = take("g");
  return true;
}

std::optional<RuleText> RuleScanner::rule() {
  RuleText rule;
  if (take("DEFAULT")) {
    rule.is_default = true;
    return rule;
  }
  if (!take("RULE:[")) return std::nullopt;
  const std::optional<std::string> digits = until(':');
  const std::optional<std::size_t> components = digits ? number_of(*digits) : std::nullopt;
  std::optional<std::string> format = until(']');
  if (!components || !format) return std::nullopt;
  rule.components = *components;
  rule.format = *std::move(format);
  if (take("(")) {
    rule.match = until(')');
    if (!rule.match) return std::nullopt;
  }
  if (take("s/") && !substitution(rule)) return std::nullopt;
  return rule;
}

std::expected<RuleText, std::string> RuleScanner::next() {
  while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  const std::string start(rest_.substr(0, 80));
  std::optional<RuleText> parsed = rule();
  if (!parsed) return std::unexpected("invalid rule: " + start);
  return *std::move(parsed);
}

// ---- AuthToLocalRule -----------------------------------------------------------------------------

// "$1@$0": each number is one of a word.
std::optional<AuthToLocalRule::Parts> AuthToLocalRule::parse_format(const RuleText& text) {
  Parts parts;
  std::string_view rest = text.format;
  while (!rest.empty()) {
    const std::size_t dollar = std::min(rest.find('$'), rest.size());
    Part part{.text = std::string(rest.substr(0, dollar)), .number = {}};
    rest.remove_prefix(dollar);
    if (!rest.empty()) {
      rest.remove_prefix(1);
      const auto digits_end = std::ranges::find_if_not(rest, is_digit);
      const std::string_view digits(rest.begin(), digits_end);
      part.number = number_of(digits);
      if (!part.number || *part.number > text.components) return std::nullopt;
      rest.remove_prefix(digits.size());
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// As in Java's Matcher.appendReplacement: \c is c, and $12 is group 1 and a 2 if there are no twelve groups.
std::optional<AuthToLocalRule::Parts> AuthToLocalRule::parse_replacement(const std::string& text,
                                                                         std::size_t groups) {
  Parts parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (++i == text.size()) return std::nullopt;
      parts.back().text += text[i];
    } else if (text[i] != '$') {
      parts.back().text += text[i];
    } else {
      if (i + 1 == text.size() || !is_digit(text[i + 1])) return std::nullopt;
      std::size_t group = static_cast<std::size_t>(text[++i] - '0');
      if (group > groups) return std::nullopt;
      while (i + 1 < text.size() && is_digit(text[i + 1])) {
        const std::size_t longer = group * 10 + static_cast<std::size_t>(text[i + 1] - '0');
        if (longer > groups) break;
        group = longer;
        ++i;
      }
      parts.back().number = group;
      parts.emplace_back();
    }
  }
  return parts;
}

std::expected<AuthToLocalRule, std::string> AuthToLocalRule::compile(const RuleText& text) {
  AuthToLocalRule rule;
  rule.components_ = text.components;
  rule.repeat_ = text.repeat;
  std::optional<Parts> format = parse_format(text);
  if (!format) return std::unexpected("[" + text.format + "] names a part that a principal has not");
  rule.format_ = *std::move(format);
  if (text.match) {
    auto match = compile_shared_regex(*text.match);
    if (!match) return std::unexpected(match.error());
    rule.match_ = *std::move(match);
  }
  if (text.from) {
    auto from = compile_shared_regex(*text.from);
    if (!from) return std::unexpected(from.error());
    rule.from_ = *std::move(from);
    std::optional<Parts> to = parse_replacement(text.to, rule.from_->mark_count());
    if (!to) return std::unexpected("the replacement " + text.to + " names a group that its pattern has not");
    rule.to_ = *std::move(to);
  }
  return rule;
}

std::string AuthToLocalRule::substitute(const std::string& base) const {
  std::string result;
  auto copied = base.begin();
  const std::sregex_iterator end;
  for (std::sregex_iterator match(base.begin(), base.end(), *from_); match != end; ++match) {
    result.append(copied, (*match)[0].first);
    for (const Part& part : to_) {
      result += part.text;
      if (part.number) result += (*match)[*part.number].str();
    }
    copied = (*match)[0].second;
    if (!repeat_) break;
  }
  result.append(copied, base.end());
  return result;
}

std::optional<std::string> AuthToLocalRule::apply(const std::vector<std::string>& words) const {
  if (words.size() - 1 != components_) return std::nullopt;
  std::string base;
  for (const Part& part : format_) {
    base += part.text;
    if (part.number) base += words.at(*part.number);
  }
  // std::regex takes stack for each byte.
  if (base.size() > kBaseBytesMax) return std::nullopt;
  if (match_ && !std::regex_match(base, *match_)) return std::nullopt;
  return from_ ? substitute(base) : base;
}

}  // namespace drover::sasl
