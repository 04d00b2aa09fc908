// SPDX-License-Identifier: Apache-2.0
//
// Counts changes of the tree by the first names of their paths, from the events of one recursive
// watch.
//
// Only changes are visible from outside, and only since the watch was set; reads are not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top/sample.h"

namespace drover::cli::observe {

// The first `depth` names: "/a/b" of "/a/b/c" with 2.
std::string prefix_of(std::string_view path, int depth);

// Counts at several depths, so that the user can change the depth at any time. Bounded: when a depth has too
// many prefixes, new ones are counted as "others".
class PathCounts {
 public:
  static constexpr int kDepthMax = 6;
  explicit PathCounts(std::size_t prefixes_max = 5000) : prefixes_max_(prefixes_max) {}

  void add(std::string_view path);
  std::vector<PathCount> hottest(int depth, std::size_t count) const;
  std::uint64_t total() const { return total_; }

 private:
  using Counts = std::map<std::string, std::uint64_t, std::less<>>;
  std::size_t prefixes_max_;
  std::uint64_t total_ = 0;
  std::vector<Counts> counts_ = std::vector<Counts>(kDepthMax);
};

}  // namespace drover::cli::observe
