// SPDX-License-Identifier: Apache-2.0
//
// The dashboard: the page of web/ at `/` of the admin port, and its JSON API below /api/ (docs/dashboard.md).
//
// It has one thread, which samples the metrics every five seconds and, while a page is open, asks the other
// servers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "dashboard/access.h"
#include "dashboard/ensemble.h"
#include "dashboard/metrics.h"
#include "http/router.h"
#include "runtime/server_inside.h"

namespace drover::server {

class Dashboard {
 public:
  // `inside` outlives it.
  explicit Dashboard(const ServerInside& inside);
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  // The router's handlers use this object.
  void add_routes(HttpRouter& router);

 private:
  void add_page(HttpRouter& router);
  void add_api(HttpRouter& router, HttpMethod method, std::string_view name,
               std::function<HttpResponse(const Asker&, const HttpRequest&)> answer);
  void run();
  // Does the work that is due. Returns when to call it again.
  Instant work(Instant now);

  const ServerInside& inside_;
  EnsembleView ensemble_;
  MetricsHistory metrics_;
  std::atomic<int> streams_{0};
  Instant next_sample_;  // used only by the thread

  std::mutex mutex_;
  std::condition_variable work_;
  bool woken_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace drover::server
