// SPDX-License-Identifier: Apache-2.0
//
// The last hour of this server as samples, one every five seconds, for the plots of the dashboard.
//
// The dashboard's own thread samples counters that exist anyway. The difference between two samples, also of
// histograms, is the activity in between. Nothing is added to the path of a request.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "dashboard/json.h"
#include "runtime/log_thread.h"
#include "runtime/server_inside.h"

namespace drover::server {

class MetricsHistory {
 public:
  static constexpr std::int64_t kIntervalMs = 5000;

  explicit MetricsHistory(const ServerInside& inside) : inside_(inside) {}

  // ?since=: only samples after that time
  HttpResponse answer(const HttpRequest& request) const;

  // Called by one thread.
  void sample();

 private:
  struct Counters {
    Instant at;
    replica::FrontTotals fronts;
    LogThread::Stats log;
  };
  // In the order of kColumns; none: no data, because nothing happened.
  using Row = std::vector<std::optional<double>>;
  struct Sample {
    std::int64_t time_ms = 0;
    Row values;
  };
  Counters count(Row& gauges) const;

  const ServerInside& inside_;
  std::optional<Counters> last_;
  mutable std::mutex mutex_;
  std::deque<Sample> samples_;
};

}  // namespace drover::server
