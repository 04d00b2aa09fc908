// SPDX-License-Identifier: Apache-2.0
//
// The metrics of `mntr` about connections, sessions, the tree and the disk, under Java's names.
//
// Other files add to the result of monitor_metrics(): server/pipeline_facts, runtime/ensemble_facts, and
// monitor/uncounted_metrics for metrics of Java's internals (docs/compatibility.md, "Metrics").
#pragma once

#include <cstdint>
#include <vector>

#include "monitor/four_letter_words.h"

namespace drover::server {

struct MonitorFacts {
  // Current values.
  std::int64_t ephemerals_count = 0;
  std::int64_t num_alive_connections = 0;
  std::int64_t outstanding_requests = 0;
  std::int64_t znode_count = 0;
  std::int64_t watch_count = 0;
  std::int64_t global_sessions = 0;
  std::int64_t local_sessions = 0;
  std::int64_t approximate_data_size = 0;
  std::int64_t open_file_descriptor_count = 0;
  std::int64_t max_file_descriptor_count = 0;
  std::int64_t uptime_ms = 0;
  std::int64_t outstanding_tls_handshake = 0;
  std::int64_t last_client_response_size = -1;
  std::int64_t min_client_response_size = -1;
  std::int64_t max_client_response_size = -1;
  double connection_drop_probability = 0;

  // Since the last srst.
  Summary latency_ms;
  std::int64_t packets_received = 0;
  std::int64_t packets_sent = 0;

  // Since the start.
  std::int64_t auth_failed_count = 0;
  std::int64_t bytes_received_count = 0;
  std::int64_t response_bytes = 0;
  std::int64_t watch_bytes = 0;
  std::int64_t connection_request_count = 0;
  std::int64_t connection_revalidate_count = 0;
  std::int64_t connection_rejected = 0;
  std::int64_t connection_drop_count = 0;
  std::int64_t sessionless_connections_expired = 0;
  std::int64_t stale_sessions_expired = 0;
  std::int64_t large_requests_rejected = 0;
  std::int64_t throttled_ops = 0;
  std::int64_t request_throttle_wait_count = 0;
  std::int64_t unsuccessful_handshake = 0;
  std::int64_t digest_mismatches_count = 0;
  std::int64_t unrecoverable_error_count = 0;
  std::int64_t prep_processor_request_queued = 0;
  std::int64_t sync_processor_request_queued = 0;

  Median fsync_ms;
  Summary snapshot_ms;
  Summary db_init_ms;
  Summary startup_snap_load_ms;
  Summary startup_txns_loaded;
  Summary startup_txns_load_ms;
  Summary sync_batch_size;
  Summary node_created_watch_count;
  Summary node_deleted_watch_count;
  Summary node_changed_watch_count;
  Summary node_children_watch_count;
  Percentiles read_latency_ms;
  Percentiles update_latency_ms;
  Percentiles sync_queue_and_flush_ms;
};

std::vector<Metric> monitor_metrics(const MonitorFacts& facts);

}  // namespace drover::server
