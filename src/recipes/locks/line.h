// SPDX-License-Identifier: Apache-2.0
//
// The contenders of a directory: who is there, in which order, and for whom each waits. Pure functions of
// names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drover/error.h"
#include "drover/recipes/layout.h"

namespace drover::recipes {

struct Contender {
  std::string name;
  std::int32_t sequence = 0;
  std::size_t kind = 0;  // which of the markers its name has
};

// Nodes whose names have one of the markers, in order, relative to `own`. Two nodes with equal numbers are a
// lock that changes its kind: the lower kind comes first.
//
// kLayoutMismatch: the directory also has nodes of another library with another order. kSequenceExhausted:
// see sequence.h.
Result<std::vector<Contender>> line_of(const std::vector<std::string>& names,
                                       const std::vector<std::string_view>& markers, std::string_view own,
                                       Layout layout);

// The position of a name; empty: it is not in the line.
std::optional<std::size_t> position_of(const std::vector<Contender>& line, std::string_view name);

// The node that this position waits for; empty: it is its turn. Each waits for a different node, so a release
// wakes one contender.
using Rule = std::optional<std::size_t> (*)(const std::vector<Contender>& line, std::size_t own);
std::optional<std::size_t> behind_everybody(const std::vector<Contender>& line, std::size_t own);

}  // namespace drover::recipes
