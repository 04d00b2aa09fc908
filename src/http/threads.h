// SPDX-License-Identifier: Apache-2.0
//
// The threads of an HTTP port: one for I/O, which never blocks; one for probes, which look at the server for
// a moment; and some for everything else.
//
// `/live` must be answered while every other handler waits for a disk or a lock, and `/ready` while every
// thread writes a snapshot or lists a million children. So slow handlers never run on the threads that quick
// ones need. All these threads have a lower priority than the threads that serve clients.
#pragma once

#include <array>
#include <functional>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "http/router.h"

namespace drover::server {

class HttpThreads {
 public:
  // `work_threads` run handlers of HttpPace::kWork. A pace without routes gets no thread.
  HttpThreads(const HttpRouter& router, int work_threads);
  // Call stop() first. Pending work is dropped.
  ~HttpThreads() = default;
  HttpThreads(const HttpThreads&) = delete;
  HttpThreads& operator=(const HttpThreads&) = delete;

  // Waits for running handlers.
  void stop();

  // Runs I/O and handlers that never block.
  boost::asio::io_context& io() { return queue(HttpPace::kInstant).context; }

  void post(HttpPace pace, std::move_only_function<void()> work);

 private:
  struct Queue {
    boost::asio::io_context context;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stays =
        boost::asio::make_work_guard(context);
  };
  Queue& queue(HttpPace pace) { return queues_[static_cast<std::size_t>(pace)]; }
  void start(HttpPace pace, int threads);

  // Destroyed from the last to the first: work queued in a later queue can hold sockets of the first.
  std::array<Queue, kHttpPaces> queues_;
  std::vector<std::thread> threads_;
};

}  // namespace drover::server
