// SPDX-License-Identifier: Apache-2.0
//
// A line of contenders as its directory shows it: who is there, in which order, and whom one has to wait for.
// Pure functions of names.
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

// Those whose names have one of the markers, in order, as seen from `own`. The same sequence twice is a lock
// on its way from one kind to another: the lower kind comes first.
//
// kLayoutMismatch: others stand in this directory too that order themselves by another rule, so that nobody
// could say who is first. kSequenceExhausted: as sequence.h has it.
Result<std::vector<Contender>> line_of(const std::vector<std::string>& names,
                                       const std::vector<std::string_view>& markers, std::string_view own,
                                       Layout layout);

// The position of a name; none: it is not there.
std::optional<std::size_t> position_of(const std::vector<Contender>& line, std::string_view name);

// Whom the one at this position waits for; none: it is its turn. Each waits for one, and nobody for the same,
// so that one who leaves wakes one.
using Rule = std::optional<std::size_t> (*)(const std::vector<Contender>& line, std::size_t own);
std::optional<std::size_t> behind_everybody(const std::vector<Contender>& line, std::size_t own);

}  // namespace drover::recipes
