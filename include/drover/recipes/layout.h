// SPDX-License-Identifier: Apache-2.0
//
// Whose rules a recipe's nodes follow.
#pragma once

#include <cstdint>

namespace drover::recipes {

enum class Layout : std::uint8_t {
  // Names, data and order as Curator has them: Java and C++ processes share the recipe. Curator compares
  // names
  // as strings, so a directory whose sequence comes near 2^31 is refused with kSequenceExhausted; the remedy
  // is to delete it while it is empty.
  kCurator,
  // The same names, ordered by this library alone, across the wrap.
  kNative,
};

}  // namespace drover::recipes
