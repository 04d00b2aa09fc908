// SPDX-License-Identifier: Apache-2.0
#include "recipes/locks/line.h"

#include <algorithm>

#include "layouts/sequence.h"

namespace drover::recipes {
namespace {

std::optional<Contender> contender_of(std::string_view name, const std::vector<std::string_view>& markers) {
  for (std::size_t kind = 0; kind < markers.size(); ++kind) {
    if (const auto sequence = layouts::sequence_of(name, markers[kind])) {
      return Contender{std::string(name), *sequence, kind};
    }
  }
  return std::nullopt;
}

// Suffixes of other libraries' sequential nodes. Other children, such as a helper directory, are not
// contenders.
bool ends_in_sequence(std::string_view name) {
  constexpr std::size_t kDigits = 10;
  if (name.size() < kDigits) return false;
  const std::string_view end = name.substr(name.size() - kDigits);
  return std::all_of(end.begin(), end.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<std::vector<Contender>> line_of(const std::vector<std::string>& names,
                                       const std::vector<std::string_view>& markers, std::string_view own,
                                       Layout layout) {
  std::vector<Contender> line;
  for (const std::string& name : names) {
    auto contender = contender_of(name, markers);
    if (!contender && ends_in_sequence(name)) return fail(Errc::kLayoutMismatch, {}, name);
    if (!contender) continue;
    if (layout == Layout::kCurator && !layouts::is_safe_to_share(contender->sequence))
      return fail(Errc::kSequenceExhausted, {}, name);
    line.push_back(*std::move(contender));
  }
  // Distances from one fixed number are a total order, even across the wrap; pairwise comparisons are not. An
  // observer may take any of them, because all are close to each other.
  auto me = contender_of(own, markers);
  if (!me && !line.empty()) me = line.front();
  const std::uint32_t origin = me ? static_cast<std::uint32_t>(me->sequence) : 0;
  const auto distance = [&](const Contender& c) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(c.sequence) - origin);
  };
  std::sort(line.begin(), line.end(), [&](const Contender& a, const Contender& b) {
    if (a.sequence != b.sequence) return distance(a) < distance(b);
    return a.kind != b.kind ? a.kind < b.kind : a.name < b.name;
  });
  return line;
}

std::optional<std::size_t> position_of(const std::vector<Contender>& line, std::string_view name) {
  const auto found =
      std::find_if(line.begin(), line.end(), [&](const Contender& each) { return each.name == name; });
  if (found == line.end()) return std::nullopt;
  return static_cast<std::size_t>(found - line.begin());
}

std::optional<std::size_t> behind_everybody(const std::vector<Contender>&, std::size_t own) {
  if (own == 0) return std::nullopt;
  return own - 1;
}

}  // namespace drover::recipes
