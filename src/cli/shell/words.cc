// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/words.h"

#include <cstddef>
#include <optional>

namespace drover::cli {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }
bool is_quote(char c) { return c == '"' || c == '\''; }

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The word that begins at this position.
std::optional<Span> word_at(std::string_view line, std::size_t begin) {
  if (is_quote(line[begin])) {
    const std::size_t close = line.find(line[begin], begin + 1);
    if (close == std::string_view::npos) return std::nullopt;
    return Span{begin, close + 1};
  }
  std::size_t end = begin + 1;
  while (end < line.size() && !is_blank(line[end])) ++end;
  return Span{begin, end};
}

std::size_t skip_blanks(std::string_view line, std::size_t at) {
  while (at < line.size() && is_blank(line[at])) ++at;
  return at;
}

// The next word after blanks. If none begins there, the last blank starts one: this is how Java's regular
// expression backtracks.
std::optional<Span> next_word(std::string_view line, std::size_t from) {
  for (std::size_t at = skip_blanks(line, from) + 1; at-- > from;) {
    if (at == line.size()) continue;
    if (const auto word = word_at(line, at)) return word;
  }
  return std::nullopt;
}

std::string without_quotes(std::string_view word) {
  const bool quoted = word.size() >= 2 && is_quote(word.front()) && word.front() == word.back();
  return std::string(quoted ? word.substr(1, word.size() - 2) : word);
}

}  // namespace

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const auto word = next_word(line, at);
    if (!word) {
      ++at;
      continue;
    }
    words.push_back(without_quotes(line.substr(word->begin, word->end - word->begin)));
    at = skip_blanks(line, word->end);
  }
  return words;
}

}  // namespace drover::cli
