// SPDX-License-Identifier: Apache-2.0
//
// Metrics of Java internals that do not exist here: its caches, thread pools and the queues between them.
// They are shown as 0, so that a query by name finds a series and not a gap. docs/compatibility.md,
// "Metrics", lists them, and its test compares that list with this one.
#include <array>
#include <string_view>

#include "monitor/metrics.h"

namespace drover::server {
namespace {

constexpr std::array<std::string_view, 11> kCounters{
    "add_dead_watcher_stall_time",
    "dead_watchers_cleared",
    "dead_watchers_queued",
    "quit_leading_due_to_disloyal_voter",
    "requests_not_forwarded_to_commit_processor",
    "response_packet_cache_hits",
    "response_packet_cache_misses",
    "response_packet_get_children_cache_hits",
    "response_packet_get_children_cache_misses",
    "skip_learner_request_to_next_processor_count",
    "tls_handshake_exceeded",
};

constexpr std::array<std::string_view, 12> kSummaries{
    "concurrent_request_processing_in_commit_processor",
    "netty_queued_buffer_capacity",
    "pending_session_queue_size",
    "read_commit_proc_issued",
    "read_commit_proc_req_queued",
    "reads_after_write_in_session_queue",
    "reads_issued_from_session_queue",
    "requests_in_session_queue",
    "session_queues_drained",
    "socket_closing_time",
    "time_waiting_empty_pool_in_commit_processor_read_ms",
    "write_commit_proc_req_queued",
};

constexpr std::array<std::string_view, 11> kPercentiles{
    "close_session_prep_time",       "dead_watchers_cleaner_latency", "jvm_pause_time_ms",
    "local_write_committed_time_ms", "om_commit_process_time_ms",     "om_proposal_process_time_ms",
    "read_commitproc_time_ms",       "read_final_proc_time_ms",       "server_write_committed_time_ms",
    "write_commitproc_time_ms",      "write_final_proc_time_ms",
};

}  // namespace

void append_uncounted_metrics(std::vector<Metric>& metrics) {
  for (const std::string_view name : kCounters)
    metrics.push_back({std::string(name), std::int64_t{0}, MetricKind::kCounter});
  for (const std::string_view name : kSummaries) metrics.push_back({std::string(name), Extremes{}});
  for (const std::string_view name : kPercentiles) metrics.push_back({std::string(name), Percentiles{}});
}

}  // namespace drover::server
