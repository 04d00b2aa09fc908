// SPDX-License-Identifier: Apache-2.0
#include "client/strand.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "drover/task.h"

namespace drover::client {
namespace {

constexpr int kBatchesPerTurn = 8;

// The strand that is running on this thread.
thread_local const Strand* current = nullptr;

struct FunctionJob final : Job {
  explicit FunctionJob(std::move_only_function<void()> f) : work(std::move(f)) {}
  void run() override {
    const std::unique_ptr<FunctionJob> self(this);
    work();
  }
  void discard() override { delete this; }
  std::move_only_function<void()> work;
};

}  // namespace

bool Strand::is_current() const { return current == this; }

void Strand::post(Chain<Job>& jobs) {
  if (jobs.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    queue_.append(jobs);
    if (std::exchange(scheduled_, true)) return;
  }
  schedule();
}

void Strand::post(Job* job) {
  Chain<Job> one;
  one.push(job);
  post(one);
}

void Strand::post(std::move_only_function<void()> work) { post(new FunctionJob(std::move(work))); }

void Strand::schedule() {
  executor_.post([self = shared_from_this()] { self->drain(); });
}

// Runs a few batches at a time, so that strands on one executor take turns.
void Strand::drain() {
  const Strand* const before = std::exchange(current, this);
  for (int batches = 0; batches < kBatchesPerTurn; ++batches) {
    Chain<Job> batch;
    {
      const std::lock_guard lock(mutex_);
      batch.append(queue_);
      if (batch.empty()) scheduled_ = false;
    }
    if (batch.empty()) break;
    while (Job* job = batch.pop()) job->run();
    if (const auto driver = driver_.lock()) driver->flush();
  }
  current = before;
  {
    const std::lock_guard lock(mutex_);
    if (!scheduled_) return;
  }
  schedule();
}

}  // namespace drover::client

namespace drover::detail {

bool is_on_executor() { return client::current != nullptr; }

void die_of_blocking() {
  std::fputs("drover: sync_wait() was called on a client's executor; use co_await there\n", stderr);
  std::abort();
}

}  // namespace drover::detail
