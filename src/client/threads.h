// SPDX-License-Identifier: Apache-2.0
//
// Threads that nobody can wait for: the last handle of a client may go on one of its own threads. They are
// joined by whoever starts the next one, and when the process ends.
#pragma once

#include <functional>
#include <memory>

#include "drover/executor.h"

namespace drover::client {

// `stop` asks `body` to return soon; it is called, if at all, when the process ends.
void launch_thread(const char* name, std::function<void()> body, std::function<void()> stop);

// A thread that runs what is posted, until the last owner is gone and everything has run.
std::shared_ptr<Executor> make_thread_executor();

}  // namespace drover::client
