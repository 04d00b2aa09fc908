// SPDX-License-Identifier: Apache-2.0
//
// Field by field in Java's order: gauges, counters, summaries, summaries with percentiles.
#include "monitor/monitor_facts.h"

namespace drover::server {
namespace {

void append_gauges(std::vector<Metric>& metrics, const MonitorFacts& f) {
  metrics.insert(metrics.end(), {
                                    {"ephemerals_count", f.ephemerals_count},
                                    {"num_alive_connections", f.num_alive_connections},
                                    {"avg_latency", f.latency_ms.average()},
                                    {"outstanding_requests", f.outstanding_requests},
                                    {"znode_count", f.znode_count},
                                    {"global_sessions", f.global_sessions},
                                    {"last_client_response_size", f.last_client_response_size},
                                    {"packets_sent", f.packets_sent},
                                    {"packets_received", f.packets_received},
                                    {"max_client_response_size", f.max_client_response_size},
                                    {"connection_drop_probability", f.connection_drop_probability},
                                    {"watch_count", f.watch_count},
                                    {"auth_failed_count", f.auth_failed_count},
                                    {"min_latency", f.latency_ms.min},
                                    {"max_file_descriptor_count", f.max_file_descriptor_count},
                                    {"approximate_data_size", f.approximate_data_size},
                                    {"open_file_descriptor_count", f.open_file_descriptor_count},
                                    {"local_sessions", f.local_sessions},
                                    {"uptime", f.uptime_ms},
                                    {"max_latency", f.latency_ms.max},
                                    {"outstanding_tls_handshake", f.outstanding_tls_handshake},
                                    {"min_client_response_size", f.min_client_response_size},
                                });
}

void append_counters(std::vector<Metric>& metrics, const MonitorFacts& f) {
  const auto counter = [&](std::string_view name, std::int64_t value) {
    metrics.push_back({std::string(name), value, Metric::Kind::kCounter});
  };
  counter("watch_bytes", f.watch_bytes);
  counter("throttled_ops", f.throttled_ops);
  counter("large_requests_rejected", f.large_requests_rejected);
  counter("connection_rejected", f.connection_rejected);
  counter("sessionless_connections_expired", f.sessionless_connections_expired);
  counter("connection_drop_count", f.connection_drop_count);
  counter("digest_mismatches_count", f.digest_mismatches_count);
  counter("bytes_received_count", f.bytes_received_count);
  counter("request_throttle_wait_count", f.request_throttle_wait_count);
  counter("prep_processor_request_queued", f.prep_processor_request_queued);
  counter("connection_request_count", f.connection_request_count);
  counter("response_bytes", f.response_bytes);
  counter("connection_revalidate_count", f.connection_revalidate_count);
  counter("unrecoverable_error_count", f.unrecoverable_error_count);
  counter("unsuccessful_handshake", f.unsuccessful_handshake);
  counter("stale_sessions_expired", f.stale_sessions_expired);
  counter("sync_processor_request_queued", f.sync_processor_request_queued);
}

}  // namespace

std::vector<Metric> monitor_metrics(const MonitorFacts& facts) {
  std::vector<Metric> metrics;
  append_gauges(metrics, facts);
  append_counters(metrics, facts);
  metrics.push_back({"node_created_watch_count", facts.node_created_watch_count});
  metrics.push_back({"node_deleted_watch_count", facts.node_deleted_watch_count});
  metrics.push_back({"startup_txns_load_time", facts.startup_txns_load_ms});
  metrics.push_back({"fsynctime", facts.fsync_ms});
  metrics.push_back({"snapshottime", facts.snapshot_ms});
  metrics.push_back({"startup_txns_loaded", facts.startup_txns_loaded});
  metrics.push_back({"dbinittime", facts.db_init_ms});
  metrics.push_back({"sync_processor_batch_size", facts.sync_batch_size});
  metrics.push_back({"node_children_watch_count", facts.node_children_watch_count});
  metrics.push_back({"node_changed_watch_count", facts.node_changed_watch_count});
  metrics.push_back({"startup_snap_load_time", facts.startup_snap_load_ms});
  metrics.push_back({"updatelatency", facts.update_latency_ms});
  metrics.push_back({"readlatency", facts.read_latency_ms});
  metrics.push_back({"sync_processor_queue_and_flush_time_ms", facts.sync_queue_and_flush_ms});
  return metrics;
}

}  // namespace drover::server
