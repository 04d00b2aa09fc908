// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/quota_text.h"

#include <fmt/format.h>

#include "cli/common/text.h"

namespace drover::cli {

std::optional<Quota> Quota::parse(std::string_view text) {
  Quota quota;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(",;"), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    std::string_view value = pair.substr(equals + 1);
    value = value.substr(0, value.find('='));
    const auto number = value.empty() ? -1 : parse_long(value);
    if (!number) return std::nullopt;
    quota.set(pair.substr(0, equals), *number);
  }
  return quota;
}

std::int64_t Quota::get(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? -1 : found->second;
}

std::string Quota::text() const {
  std::string text = fmt::format("count={},bytes={}", get(kCount), get(kBytes));
  bool first = true;
  for (const auto& [key, value] : values_) {
    if (key == kCount || key == kBytes) continue;
    text += fmt::format("{};{}={}", std::exchange(first, false) ? "=" : "", key, value);
  }
  return text;
}

}  // namespace drover::cli
