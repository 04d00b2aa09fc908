// SPDX-License-Identifier: Apache-2.0
//
// Whose rules a recipe's nodes follow.
#pragma once

#include <cstdint>

namespace drover::recipes {

enum class Layout : std::uint8_t {
  // Names, data and order as Curator has them: Java and C++ processes share the recipe. Curator and kazoo
  // compare names as strings, and beyond 2^31 two of them could hold one lock. So a directory whose sequence
  // comes near it is refused with kSequenceExhausted: docs/recipes.md, "When a sequence ends".
  kCurator,
  // The same names, but only this library uses them; ordered across the wrap.
  kNative,
};

}  // namespace drover::recipes
