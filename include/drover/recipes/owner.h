// SPDX-License-Identifier: Apache-2.0
//
// Who takes a lock, inside one process: an object whose address says who it is. Coroutines change threads,
// and so cannot be told apart by them.
#pragma once

namespace drover::recipes {

// Outlives the guards that were given to it.
class Owner {
 public:
  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
};

}  // namespace drover::recipes
