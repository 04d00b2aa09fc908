// SPDX-License-Identifier: Apache-2.0
//
// The owner of a lock inside one process, identified by the object's address. Coroutines change threads, so a
// thread does not identify them.
#pragma once

namespace drover::recipes {

// Must outlive its guards.
class Owner {
 public:
  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
};

}  // namespace drover::recipes
