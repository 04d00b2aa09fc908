// SPDX-License-Identifier: Apache-2.0
#include "recipes/transactions/transaction_record.h"

#include <algorithm>

namespace drover::recipes {
namespace {

std::string_view word_of(const std::optional<Decision>& decision) {
  if (!decision) return "pending";
  return *decision == Decision::kCommit ? "commit" : "abort";
}

// False: not a word for it.
bool read_state(std::string_view word, std::optional<Decision>& decision) {
  if (word == "pending") return true;
  if (word == "commit") decision = Decision::kCommit;
  if (word == "abort") decision = Decision::kAbort;
  return decision.has_value();
}

// False: this line means nothing.
bool read_line(std::string_view line, TransactionRecord& record) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view key = line.substr(0, space);
  const std::string_view value = line.substr(space + 1);
  if (key == "state") return read_state(value, record.decision);
  if (key == "by") record.by = value;
  if (key == "site") record.sites.emplace_back(value);
  return key == "by" || key == "site";
}

}  // namespace

bool TransactionRecord::has_site(std::string_view site) const {
  return std::ranges::find(sites, site) != sites.end();
}

std::string TransactionRecord::to_text() const {
  std::string text = "state " + std::string(word_of(decision)) + "\nby " + by + "\n";
  for (const std::string& site : sites) text += "site " + site + "\n";
  return text + "\n" + payload;
}

std::optional<TransactionRecord> TransactionRecord::from_text(std::string_view text) {
  TransactionRecord record;
  if (!text.starts_with("state ")) return std::nullopt;
  for (;;) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) break;
    if (!read_line(line, record)) return std::nullopt;
  }
  record.payload = text;
  return record;
}

bool is_site_name(std::string_view site) {
  return !site.empty() && site != "." && site != ".." && site.find_first_of("/\n") == std::string_view::npos;
}

}  // namespace drover::recipes
