// SPDX-License-Identifier: Apache-2.0
//
// Recognises words and checks whether they may run; four_letter_render.cc has their output.
#include "monitor/four_letter_words.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text.h"

namespace drover::server {
namespace {

constexpr std::array<std::string_view, kWordCount> kNames{
    "conf", "cons", "crst", "dirs", "dump", "envi", "gtmk", "hash", "isro",        "mntr",
    "ruok", "srst", "srvr", "stat", "stmk", "wchc", "wchp", "wchs", "telnet close"};

// IAC IP IAC DM: telnet sends it on close. As a frame length it would be negative.
constexpr std::string_view kTelnetCloseBytes = "\xff\xf4\xff\xfd";

std::optional<Word> word_named(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Word>(found - kNames.begin());
}

}  // namespace

std::optional<Word> recognise(std::string_view first_bytes) {
  if (first_bytes.size() < 4) return std::nullopt;
  const std::string_view word = first_bytes.substr(0, 4);
  if (word == kTelnetCloseBytes) return Word::kTelnetClose;
  return word_named(word);
}

std::string_view name_of(Word word) { return kNames[static_cast<std::size_t>(word)]; }

std::optional<std::int64_t> trace_mask_of(std::string_view bytes_behind_word) {
  if (bytes_behind_word.size() < kTraceMaskBytes) return std::nullopt;
  std::uint64_t mask = 0;
  for (const char byte : bytes_behind_word.substr(0, kTraceMaskBytes)) {
    mask = mask << 8 | static_cast<unsigned char>(byte);
  }
  return static_cast<std::int64_t>(mask);
}

Whitelist Whitelist::standard() {
  Whitelist list;
  for (const Word word : {Word::kSrvr, Word::kRuok, Word::kIsro, Word::kMntr, Word::kConf, Word::kEnvi,
                          Word::kDirs, Word::kWchs}) {
    list.allow(word);
  }
  return list;
}

Whitelist Whitelist::parse(std::string_view list, std::vector<std::string>* unknown) {
  Whitelist result;
  result.allow(Word::kSrvr);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (name == "*") {
      result.words_.set();
    } else if (const auto word = word_named(name)) {
      result.allow(*word);
    } else if (!name.empty() && unknown != nullptr) {
      unknown->emplace_back(name);
    }
  }
  return result;
}

Needs needs(Word word) {
  switch (word) {
    case Word::kConf:
    case Word::kDirs: return {.directory_sizes = true};
    case Word::kEnvi: return {.environment = true};
    case Word::kMntr: return {.metrics = true};
    case Word::kCons:
    case Word::kStat: return {.connections = true};
    case Word::kDump: return {.sessions_and_ephemerals = true};
    case Word::kHash: return {.digests = true};
    case Word::kWchs: return {.watch_counts = true};
    case Word::kWchc:
    case Word::kWchp: return {.watches = true};
    default: return {};
  }
}

}  // namespace drover::server
