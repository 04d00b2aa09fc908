// SPDX-License-Identifier: Apache-2.0
#include "http/threads.h"

#include <pthread.h>
#include <sys/resource.h>

#include <utility>

#include <boost/asio/post.hpp>

#include "log/keep_going.h"

namespace drover::server {
namespace {

// Clients come first. (On Linux this sets the priority of the thread, not of the process.)
constexpr int kHttpNice = 5;

void run(boost::asio::io_context& context) {
  pthread_setname_np(pthread_self(), "drover-http");
  setpriority(PRIO_PROCESS, 0, kHttpNice);
  // An exception of a sink or a source ends its connection, which has no other owner, and not the server.
  while (!keep_going("http", [&] { context.run(); })) {
  }
}

}  // namespace

HttpThreads::HttpThreads(const HttpRouter& router, int work_threads) {
  start(HttpPace::kInstant, 1);
  if (router.has_any(HttpPace::kGlance)) start(HttpPace::kGlance, 1);
  if (router.has_any(HttpPace::kWork)) start(HttpPace::kWork, work_threads);
}

void HttpThreads::start(HttpPace pace, int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([&context = queue(pace).context] { run(context); });
}

void HttpThreads::post(HttpPace pace, std::move_only_function<void()> work) {
  boost::asio::post(queue(pace).context, std::move(work));
}

void HttpThreads::stop() {
  for (Queue& queue : queues_) queue.context.stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace drover::server
