// SPDX-License-Identifier: Apache-2.0
#include "server/metrics.h"

#include <sys/resource.h>

#include "replica/replica_metrics.h"
#include "runtime/core_metrics.h"
#include "runtime/log_metrics.h"

namespace drover::server {
namespace {

constexpr MetricKind kGauge = MetricKind::kGauge;

// The numbers that other words show, too.
constexpr MetricOf<Facts> kFactMetrics[] = {
    {"num_alive_connections", &Facts::alive_connections, kGauge},
    {"outstanding_requests", &Facts::outstanding_requests, kGauge},
    {"znode_count", &Facts::node_count, kGauge},
    {"avg_latency", [](const Facts& f) { return average_of(f.latency_ms); }, kGauge},
    {"min_latency", [](const Facts& f) { return f.latency_ms.min; }, kGauge},
    {"max_latency", [](const Facts& f) { return f.latency_ms.max; }, kGauge},
    {"last_client_response_size", [](const Facts& f) { return f.stats.response_bytes_last; }, kGauge},
    {"min_client_response_size", [](const Facts& f) { return f.stats.response_bytes_min; }, kGauge},
    {"max_client_response_size", [](const Facts& f) { return f.stats.response_bytes_max; }, kGauge},
    {"uptime", [](const Facts& f) { return f.stats.uptime_ms; }, kGauge},
};

std::uint64_t watch_count(const FactSources& s) {
  std::uint64_t count = 0;
  for (const replica::Front* front : s.fronts) count += front->watches().table_entries();
  return count;
}

std::uint64_t max_descriptors(const FactSources&) {
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  return descriptors.rlim_cur;
}

Extremes once(auto value) {
  Extremes extremes;
  extremes.add(static_cast<std::uint64_t>(value));
  return extremes;
}

constexpr MetricOf<FactSources> kServerMetrics[] = {
    {"ephemerals_count", [](const FactSources& s) { return s.machine.tree.ephemeral_count(); }, kGauge},
    {"approximate_data_size", [](const FactSources& s) { return s.machine.tree.data_bytes(); }, kGauge},
    {"global_sessions", [](const FactSources& s) { return s.machine.sessions.size(); }, kGauge},
    {"local_sessions", [](const FactSources& s) { return s.replica.local_session_count(); }, kGauge},
    {"watch_count", &watch_count, kGauge},
    {"open_file_descriptor_count", [](const FactSources& s) { return s.kernel.open_descriptors; }, kGauge},
    {"max_file_descriptor_count", &max_descriptors, kGauge},
    {"connection_rejected",
     [](const FactSources& s) { return s.connections_rejected + s.replica.stats().sessions_throttled; }},
    {"insecure_admin_count", &FactSources::insecure_admin},
    {"prep_processor_request_queued",
     [](const FactSources& s) { return s.front_totals.writes + s.replica.stats().forwarded; }},
    {"digest_mismatches_count",
     [](const FactSources& s) { return s.digest_mismatches + (s.member ? s.member->divergences() : 0); }},
    {"dbinittime", [](const FactSources& s) { return once(s.startup_ms); }},
    {"startup_snap_load_time", [](const FactSources& s) { return once(s.startup_snapshot_ms); }},
    {"startup_txns_load_time", [](const FactSources& s) { return once(s.startup_txns_ms); }},
    {"startup_txns_loaded", [](const FactSources& s) { return once(s.startup_txns); }},
    {"connection_drop_probability",
     [](const FactSources& s) { return s.replica.connection_throttle().drop_probability(); }, kGauge},
    {"connection_token_deficit",
     [](const FactSources& s) { return s.replica.connection_throttle().deficit(); }},
    // Always 0 (docs/compatibility.md, "Metrics").
    {"unrecoverable_error_count", [](const FactSources&) { return std::uint64_t{0}; }},
};

}  // namespace

std::vector<Metric> collect_metrics(const FactSources& s, const Facts& facts) {
  std::vector<Metric> metrics;
  append_metrics(kFactMetrics, facts, metrics);
  append_metrics(kServerMetrics, s, metrics);
  append_metrics(replica::kFrontStatMetrics, s.front_stats, metrics);
  append_metrics(replica::kFrontTotalMetrics, s.front_totals, metrics);
  append_metrics(kIoLoopMetrics, s.io, metrics);
  append_metrics(kCoreMetrics, s.core, metrics);
  append_metrics(state::kChangeMetrics, s.replica.change_counts(), metrics);
  append_metrics(replica::kReplicaMetrics, s.replica.stats(), metrics);
  append_metrics(replica::kAgeMetrics, s.replica.stats().ages, metrics);
  append_metrics(kLogMetrics, s.log, metrics);
  append_metrics(kSnapshotMetrics, s.snapshots, metrics);
  append_metrics(kAdminMetrics, s.admin, metrics);
  // A standalone server shows these as 0.
  const zab::PeerCounts peer = s.member ? s.member->peer().counts() : zab::PeerCounts{};
  append_metrics(zab::kPeerMetrics, peer, metrics);
  append_metrics(zab::kLeaderMetrics, peer.led, metrics);
  append_metrics(zab::kLearnerMetrics, peer.learned, metrics);
  append_refusals(s.refusals, metrics);
  if (s.member) append_ensemble_metrics(*s.member, s.now, metrics);
  append_uncounted_metrics(metrics);
  return metrics;
}

}  // namespace drover::server
