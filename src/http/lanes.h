// SPDX-License-Identifier: Apache-2.0
//
// The threads of an HTTP port: one that moves bytes and waits for nothing, one for probes, which look at the
// server for a moment, and some for everything else.
//
// `/live` has to be answered while every other handler waits for a disk or a lock, and `/ready` while every
// thread writes a snapshot or lists a million children: the slower never have the thread that the quicker
// need. All are of a lower priority than those that serve clients.
#pragma once

#include <array>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "http/router.h"

namespace drover::server {

class HttpLanes {
 public:
  // `work_threads` are for handlers of HttpPace::kWork. A pace that no route has gets no thread.
  HttpLanes(const HttpRouter& router, int work_threads);
  // After stop(). What was still to do is dropped.
  ~HttpLanes() = default;
  HttpLanes(const HttpLanes&) = delete;
  HttpLanes& operator=(const HttpLanes&) = delete;

  // Waits for what is being done.
  void stop();

  // Where bytes are moved, and handlers run that wait for nothing.
  boost::asio::io_context& io() { return lane(HttpPace::kInstant).context; }

  template <class Work>
  void post(HttpPace pace, Work&& work) {
    boost::asio::post(lane(pace).context, std::forward<Work>(work));
  }

 private:
  struct Lane {
    boost::asio::io_context context;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stays =
        boost::asio::make_work_guard(context);
  };
  Lane& lane(HttpPace pace) { return lanes_[static_cast<std::size_t>(pace)]; }
  void start(HttpPace pace, int threads);

  // Destroyed from the last to the first: what waits in a later one may hold sockets of the first.
  std::array<Lane, kHttpPaces> lanes_;
  std::vector<std::thread> threads_;
};

}  // namespace drover::server
