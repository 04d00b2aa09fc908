// SPDX-License-Identifier: Apache-2.0
//
// Threads that cannot be joined by their owner: the last handle of a client may be destroyed on one of its
// own threads. They are joined when the next one starts, and when the process ends.
#pragma once

#include <functional>
#include <memory>

#include "drover/executor.h"

namespace drover::client {

struct Thread {
  const char* name;
  std::function<void()> body;
  std::function<void()> stop;  // asks `body` to return; called when the process ends
  bool serves_others = false;  // stopped after threads that do not
};
void launch_thread(Thread thread);

// A thread that runs posted jobs until the last owner is gone and all jobs have run.
std::shared_ptr<Executor> make_thread_executor();

}  // namespace drover::client
