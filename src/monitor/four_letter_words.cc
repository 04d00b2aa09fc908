// SPDX-License-Identifier: Apache-2.0
//
// Recognises words and checks whether they may run; four_letter_render.cc has the table and the output.
#include "monitor/four_letter_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace drover::server {
namespace {

const Word* find_word(std::string_view Word::* field, std::string_view wanted) {
  const auto words = four_letter_words();
  const auto found = std::ranges::find(words, wanted, field);
  return found == words.end() ? nullptr : &*found;
}

}  // namespace

const Word* word_named(std::string_view name) { return find_word(&Word::name, name); }

const Word* recognise(std::string_view first_bytes) {
  return find_word(&Word::bytes, first_bytes.substr(0, 4));
}

std::optional<std::int64_t> trace_mask_of(std::string_view bytes_behind_word) {
  if (bytes_behind_word.size() < kTraceMaskBytes) return std::nullopt;
  std::uint64_t mask = 0;
  for (const char byte : bytes_behind_word.substr(0, kTraceMaskBytes)) {
    mask = mask << 8 | static_cast<unsigned char>(byte);
  }
  return static_cast<std::int64_t>(mask);
}

bool Whitelist::allow(std::string_view name) {
  const Word* word = word_named(name);
  if (word != nullptr) names_.insert(word->name);
  return word != nullptr;
}

Whitelist Whitelist::standard() {
  Whitelist list;
  for (const Word& word : four_letter_words()) {
    if (word.standard) list.allow(word.name);
  }
  return list;
}

Whitelist Whitelist::parse(std::string_view list, std::vector<std::string>* unknown) {
  Whitelist result;
  result.allow("srvr");
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (name == "*") {
      for (const Word& word : four_letter_words()) result.allow(word.name);
    } else if (!result.allow(name) && !name.empty() && unknown != nullptr) {
      unknown->emplace_back(name);
    }
  }
  return result;
}

std::string render(const Word& word, const Facts& facts) {
  if (!facts.serving && word.not_serving) return std::string(*word.not_serving);
  return word.print(facts);
}

std::string refusal(const Word& word) {
  return fmt::format("{} is not executed because it is not in the whitelist.\n", word.name);
}

}  // namespace drover::server
