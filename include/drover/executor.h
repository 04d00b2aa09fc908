// SPDX-License-Identifier: Apache-2.0
//
// Where a client's callbacks and coroutines run. Whatever the executor, those of one client run one at a time
// and in order.
#pragma once

#include <functional>

namespace drover {

// A client lets go of its executor some time after its last handle has gone, perhaps on the executor itself.
class Executor {
 public:
  virtual ~Executor() = default;
  // Runs `work` soon, on whatever thread, but never from within post(). Called from any thread.
  virtual void post(std::move_only_function<void()> work) = 0;
};

}  // namespace drover
