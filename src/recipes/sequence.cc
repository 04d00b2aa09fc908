// SPDX-License-Identifier: Apache-2.0
#include "recipes/sequence.h"

#include <charconv>

namespace drover::recipes {
namespace {

constexpr std::size_t kDigits = 10;  // "%010d"

}  // namespace

std::optional<std::int32_t> sequence_of(std::string_view name, std::string_view marker) {
  const std::size_t at = name.rfind(marker);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view suffix = name.substr(at + marker.size());
  const bool negative = suffix.starts_with('-');
  // In Java's %010d the sign is one of the ten characters.
  if (suffix.size() < kDigits || suffix.size() > kDigits + (negative ? 1 : 0)) return std::nullopt;
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), value);
  if (error != std::errc{} || end != suffix.data() + suffix.size()) return std::nullopt;
  return value;
}

}  // namespace drover::recipes
