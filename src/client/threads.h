// SPDX-License-Identifier: Apache-2.0
//
// Threads that nobody can wait for: the last handle of a client may go on one of its own threads. They are
// joined by whoever starts the next one, and when the process ends.
#pragma once

#include <functional>
#include <memory>

#include "drover/executor.h"

namespace drover::client {

struct Thread {
  const char* name;
  std::function<void()> body;
  std::function<void()> stop;  // asks `body` to return soon; when the process ends
  bool serves_others = false;  // is stopped after those that do not
};
void launch_thread(Thread thread);

// A thread that runs what is posted, until the last owner is gone and everything has run.
std::shared_ptr<Executor> make_thread_executor();

}  // namespace drover::client
