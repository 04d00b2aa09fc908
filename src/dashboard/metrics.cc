// SPDX-License-Identifier: Apache-2.0
#include "dashboard/metrics.h"

#include <string_view>

#include "base/number.h"
#include "runtime/clock.h"

namespace drover::server {
namespace {

constexpr std::size_t kSamples = 3'600'000 / MetricsHistory::kIntervalMs;

// Gauges first, in the order of count(), then the activity between two samples.
constexpr std::string_view kColumns[] = {"outstanding", "connections", "watches",   "nodes",     "ephemerals",
                                         "sessions",    "snapshot_ms", "reads",     "read_p50",  "read_p99",
                                         "read_p999",   "writes",      "write_p50", "write_p99", "write_p999",
                                         "fsync_avg",   "flush_p99"};

std::optional<double> percentile(const Histogram& h, std::uint64_t per_mille) {
  if (h.extremes().count == 0) return std::nullopt;
  return static_cast<double>(h.percentile(per_mille));
}

void add_latencies(const Histogram& added, double seconds, std::vector<std::optional<double>>& row) {
  row.push_back(static_cast<double>(added.extremes().count) / seconds);
  for (const std::uint64_t per_mille : {500u, 990u, 999u}) row.push_back(percentile(added, per_mille));
}

}  // namespace

MetricsHistory::Counters MetricsHistory::count(Row& gauges) const {
  Counters now{.at = monotonic_now(), .fronts = {}, .log = inside_.log_stats()};
  std::size_t outstanding = 0;
  std::size_t connections = 0;
  std::size_t watches = 0;
  for (std::size_t i = 0; i < inside_.fronts.size(); ++i) {
    TreeLock::Reading reading(inside_.lock, io_slot(i));  // blocks its I/O thread and the core
    const replica::Front& front = *inside_.fronts[i];
    now.fronts.add(front.totals());
    outstanding += front.outstanding();
    connections += front.connection_count();
    watches += front.watches().table_entries();
  }
  const auto add = [&](std::size_t value) { gauges.push_back(static_cast<double>(value)); };
  add(outstanding);
  add(connections);
  add(watches);
  {
    TreeLock::Reading reading(inside_.lock, TreeSlot::kHttp);
    add(inside_.machine.tree.node_count());
    add(inside_.machine.tree.ephemeral_count());
    add(inside_.machine.sessions.size());
  }
  const SnapshotThread::Stats snapshots = inside_.snapshots.stats();
  gauges.push_back(snapshots.snapshots == 0 ? std::nullopt
                                            : std::optional(static_cast<double>(snapshots.last_ms)));
  return now;
}

void MetricsHistory::sample() {
  Sample sample{.time_ms = wall_now().ms, .values = {}};
  Counters now = count(sample.values);
  if (last_ && now.at > last_->at) {
    const double seconds = static_cast<double>(now.at - last_->at) / 1000;
    add_latencies(now.fronts.read_latency_ms.since(last_->fronts.read_latency_ms), seconds, sample.values);
    add_latencies(now.fronts.update_latency_ms.since(last_->fronts.update_latency_ms), seconds,
                  sample.values);
    const std::uint64_t syncs = now.log.syncs - last_->log.syncs;
    const auto sync_ms = static_cast<double>(now.log.sync_ns_sum - last_->log.sync_ns_sum) / 1e6;
    sample.values.push_back(syncs == 0 ? std::nullopt : std::optional(sync_ms / static_cast<double>(syncs)));
    sample.values.push_back(percentile(now.log.queue_and_flush_ms.since(last_->log.queue_and_flush_ms), 990));
  }
  sample.values.resize(std::size(kColumns));
  last_ = std::move(now);
  std::lock_guard lock(mutex_);
  samples_.push_back(std::move(sample));
  if (samples_.size() > kSamples) samples_.pop_front();
}

HttpResponse MetricsHistory::answer(const HttpRequest& request) const {
  const auto since = parse_number<std::int64_t>(request.parameter("since")).value_or(0);
  json::array columns{"t"};
  for (const std::string_view column : kColumns) columns.push_back(json::string(column));
  json::array samples;
  {
    std::lock_guard lock(mutex_);
    for (const Sample& sample : samples_) {
      if (sample.time_ms <= since) continue;
      json::array row{sample.time_ms};
      for (const auto& value : sample.values) row.push_back(value ? json::value(*value) : json::value());
      samples.push_back(std::move(row));
    }
  }
  return json_answer(
      {{"interval_ms", kIntervalMs}, {"columns", std::move(columns)}, {"samples", std::move(samples)}});
}

}  // namespace drover::server
