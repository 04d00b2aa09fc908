// SPDX-License-Identifier: Apache-2.0
//
// Runs one job at a time, in order, on an executor that may have many threads.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "client/driver.h"
#include "drover/executor.h"

namespace drover::client {

class Strand : public std::enable_shared_from_this<Strand> {
 public:
  // `owner` keeps the executor alive; may be null.
  Strand(Executor& executor, std::shared_ptr<Executor> owner)
      : executor_(executor), owner_(std::move(owner)) {}

  // Safe to call from any thread. Takes all jobs of the chain.
  void post(Chain<Job>& jobs);
  void post(Job* job);
  void post(std::move_only_function<void()> work);
  // True if the caller is a job of this strand.
  bool is_current() const;
  // Flushed after each batch of jobs, so that their requests go out together.
  void set_driver(std::weak_ptr<Driver> driver) { driver_ = std::move(driver); }

 private:
  void schedule();
  void drain();

  Executor& executor_;
  std::shared_ptr<Executor> owner_;
  std::weak_ptr<Driver> driver_;
  std::mutex mutex_;
  Chain<Job> queue_;
  bool scheduled_ = false;
};

}  // namespace drover::client
