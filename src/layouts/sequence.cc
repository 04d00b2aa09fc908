// SPDX-License-Identifier: Apache-2.0
#include "layouts/sequence.h"

#include "base/number.h"

namespace drover::layouts {
namespace {

constexpr std::size_t kDigits = 10;  // "%010d"

}  // namespace

std::optional<std::int32_t> parse_sequence(std::string_view text) {
  const bool negative = text.starts_with('-');
  // In Java's %010d the sign is one of the ten characters.
  if (text.size() < kDigits || text.size() > kDigits + (negative ? 1 : 0)) return std::nullopt;
  return parse_number<std::int32_t>(text);
}

std::optional<std::int32_t> sequence_of(std::string_view name, std::string_view marker) {
  const std::size_t at = name.rfind(marker);
  if (at == std::string_view::npos) return std::nullopt;
  return parse_sequence(name.substr(at + marker.size()));
}

}  // namespace drover::layouts
