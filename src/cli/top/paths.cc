// SPDX-License-Identifier: Apache-2.0
#include "cli/top/paths.h"

#include <algorithm>

namespace drover::cli::observe {
namespace {

constexpr std::string_view kOthers = "others";

}  // namespace

std::string prefix_of(std::string_view path, int depth) {
  std::size_t end = 0;
  for (int i = 0; i < depth && end != std::string_view::npos; ++i) end = path.find('/', end + 1);
  return std::string(path.substr(0, end));
}

void PathCounts::add(std::string_view path) {
  ++total_;
  for (int depth = 1; depth <= kDepthMax; ++depth) {
    Counts& counts = counts_[static_cast<std::size_t>(depth - 1)];
    std::string prefix = prefix_of(path, depth);
    const auto known = counts.find(prefix);
    if (known != counts.end()) {
      ++known->second;
    } else {
      ++counts[counts.size() < prefixes_max_ ? std::move(prefix) : std::string(kOthers)];
    }
  }
}

std::vector<PathCount> PathCounts::hottest(int depth, std::size_t count) const {
  std::vector<PathCount> all;
  for (const auto& [path, changes] : counts_.at(static_cast<std::size_t>(depth - 1)))
    all.push_back({path, changes});
  std::stable_sort(all.begin(), all.end(),
                   [](const PathCount& a, const PathCount& b) { return a.changes > b.changes; });
  if (all.size() > count) all.resize(count);
  return all;
}

}  // namespace drover::cli::observe
