// SPDX-License-Identifier: Apache-2.0
//
// Where a client's callbacks and coroutines run. Those of one client run one at a time and in order, on any
// executor.
#pragma once

#include <functional>

namespace drover {

// A client releases its executor some time after its last handle, perhaps on the executor itself.
class Executor {
 public:
  virtual ~Executor() = default;
  // Runs `work` soon, on any thread, but never from within post(). Must be safe to call from any thread.
  virtual void post(std::move_only_function<void()> work) = 0;
};

}  // namespace drover
