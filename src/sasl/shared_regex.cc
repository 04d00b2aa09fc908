// SPDX-License-Identifier: Apache-2.0
#include "sasl/shared_regex.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace drover::sasl {
namespace {

constexpr std::size_t kPatternBytesMax = 1024;

bool is_among(char c, std::string_view characters) { return characters.find(c) != std::string_view::npos; }

// Reads a pattern once and says what keeps it from being shared.
class Checker {
 public:
  explicit Checker(std::string_view pattern) : rest_(pattern) {}

  std::optional<std::string> problem() {
    while (!rest_.empty()) {
      if (auto found = next()) return found;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> next() {
    const char c = take();
    switch (c) {
      case '\\': return escape();
      case '[': return character_class();
      case '(': return open();
      case ')': return close();
      case '*':
      case '+':
      case '?':
      case '{': return quantifier(c);
      case '|':
        note_choice();
        has_choice_ = false;
        return std::nullopt;
      default: has_choice_ = false; return std::nullopt;
    }
  }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::optional<std::string> escape() {
    has_choice_ = false;
    if (rest_.empty() || !is_among(take(), ".\\/-[](){}*+?^$|@dwsDWSbB")) return "an escape";
    return std::nullopt;
  }

  // Java joins classes in classes and intersects them with &&.
  std::optional<std::string> character_class() {
    has_choice_ = false;
    if (rest_.starts_with('^')) take();
    // In Java a first ] is an ordinary character.
    if (rest_.starts_with(']')) return "an empty class";
    while (!rest_.empty()) {
      const char c = take();
      if (c == ']') return std::nullopt;
      if (c == '[' || (c == '&' && rest_.starts_with('&'))) return "a class of classes";
      if (c == '\\') {
        if (auto found = escape()) return found;
      }
    }
    return "a class that does not end";
  }

  std::optional<std::string> open() {
    if (rest_.starts_with('?')) {
      if (!rest_.starts_with("?:")) return "a special group";
      rest_.remove_prefix(2);
    }
    groups_.push_back(false);
    has_choice_ = false;
    return std::nullopt;
  }

  std::optional<std::string> close() {
    if (groups_.empty()) return "a parenthesis";
    has_choice_ = groups_.back();
    groups_.pop_back();
    if (has_choice_) note_choice();
    return std::nullopt;
  }

  std::optional<std::string> quantifier(char c) {
    if (c == '{') {
      const std::size_t end = rest_.find('}');
      if (end == std::string_view::npos) return "a brace";
      rest_.remove_prefix(end + 1);
    }
    if (has_choice_ && c != '?') return "a repetition of repetitions or alternatives";
    if (rest_.starts_with('+')) return "a possessive quantifier";
    if (rest_.starts_with('?')) take();
    note_choice();
    return std::nullopt;
  }

  void note_choice() {
    if (!groups_.empty()) groups_.back() = true;
  }

  std::string_view rest_;
  std::vector<bool> groups_;  // whether each open group can match one text in several ways
  bool has_choice_ = false;   // whether what was just read is such a group
};

}  // namespace

std::expected<std::regex, std::string> compile_shared_regex(const std::string& pattern) {
  const auto refused = [&pattern](const std::string& why) {
    return std::unexpected("the pattern " + pattern.substr(0, 80) + " has " + why +
                           ", which is not supported");
  };
  if (pattern.size() > kPatternBytesMax) return refused("more than 1024 bytes");
  if (const auto problem = Checker(pattern).problem()) return refused(*problem);
  try {
    return std::regex(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    return refused("a mistake");
  }
}

}  // namespace drover::sasl
