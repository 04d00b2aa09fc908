// SPDX-License-Identifier: Apache-2.0
//
// The counters of a front, and the metrics that show them. The server adds up all fronts.
#pragma once

#include <cstdint>

#include "base/metric.h"
#include "wire/replies.h"

namespace drover::replica {

// Counted since start; srst does not reset them, as in Java.
struct FrontTotals {
  std::uint64_t response_bytes = 0;
  std::uint64_t watch_bytes = 0;    // bytes of events
  std::uint64_t writes = 0;         // passed to the replica
  std::uint64_t stale_replies = 0;  // answers whose connection was gone
  std::uint64_t not_served = 0;     // connections that sent a request while no client was served
  // Clients that reached a limit (base/client_limits.h).
  std::uint64_t watches_refused = 0;     // requests for watches
  std::uint64_t replies_refused = 0;     // requests whose answer would be too large
  std::uint64_t identities_refused = 0;  // requests to add an identity
  std::uint64_t rested = 0;              // how often a connection had to wait for the next round
  std::uint64_t long_lists = 0;          // replies to getChildren that were made in pieces
  std::uint64_t event_overflows = 0;     // connections closed because one batch had too many events for them
  std::uint64_t output_evictions = 0;    // connections closed because all together have too much unsent
  // Results of the auth scheme `ensemble`.
  std::uint64_t ensemble_names_skipped = 0;  // no name, or none is configured
  std::uint64_t ensemble_names_right = 0;
  std::uint64_t ensemble_names_wrong = 0;  // their connections were closed
  std::uint64_t sasl_logins = 0;
  std::uint64_t sasl_failures = 0;
  // How many watches one change fired, if any.
  Extremes created_watches;
  Extremes deleted_watches;
  Extremes changed_watches;
  Extremes children_watches;
  Histogram read_latency_ms;
  Histogram update_latency_ms;

  Extremes& watches_of(wire::EventType type);
  void add(const FrontTotals& other);
};
inline constexpr MetricOf<FrontTotals> kFrontTotalMetrics[] = {
    {"response_bytes", &FrontTotals::response_bytes},
    {"watch_bytes", &FrontTotals::watch_bytes},
    {"", &FrontTotals::writes},  // prep_processor_request_queued in server/metrics.cc
    {"stale_replies", &FrontTotals::stale_replies},
    {"cnxn_closed_without_zk_server_running", &FrontTotals::not_served},
    {"client_watches_refused", &FrontTotals::watches_refused},
    {"client_replies_refused", &FrontTotals::replies_refused},
    {"client_identities_refused", &FrontTotals::identities_refused},
    {"client_work_paused", &FrontTotals::rested},
    {"client_lists_in_pieces", &FrontTotals::long_lists},
    {"client_event_overflows", &FrontTotals::event_overflows},
    {"client_output_overflows", &FrontTotals::output_evictions},
    {"ensemble_auth_skip", &FrontTotals::ensemble_names_skipped},
    {"ensemble_auth_success", &FrontTotals::ensemble_names_right},
    {"ensemble_auth_fail", &FrontTotals::ensemble_names_wrong},
    {"client_sasl_logins", &FrontTotals::sasl_logins},
    {"client_sasl_failures", &FrontTotals::sasl_failures},
    {"node_created_watch_count", &FrontTotals::created_watches},
    {"node_deleted_watch_count", &FrontTotals::deleted_watches},
    {"node_changed_watch_count", &FrontTotals::changed_watches},
    {"node_children_watch_count", &FrontTotals::children_watches},
    {"readlatency", &FrontTotals::read_latency_ms},
    {"updatelatency", &FrontTotals::update_latency_ms},
};

// Counted since the last srst.
struct FrontStats {
  std::uint64_t received = 0;  // packets
  std::uint64_t sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t frames_too_large = 0;
  std::uint64_t output_overflows = 0;
  std::uint64_t silent_closed = 0;  // connections whose client was silent for its timeout
  std::uint64_t auth_failures = 0;
  std::uint64_t zxid_ahead = 0;
  Extremes latency_ms;  // from a request to its reply
  // Bytes of an answer to a request.
  std::uint64_t last_response_bytes = 0;
  Extremes response_bytes;

  void add(const FrontStats& other);
};
inline constexpr MetricOf<FrontStats> kFrontStatMetrics[] = {
    {"packets_received", &FrontStats::received, MetricKind::kGauge},
    {"packets_sent", &FrontStats::sent, MetricKind::kGauge},
    {"bytes_received_count", &FrontStats::bytes_received},
    {"large_requests_rejected", &FrontStats::frames_too_large},
    {"", &FrontStats::output_overflows},
    {"", &FrontStats::silent_closed},
    {"connection_drop_count", [](const FrontStats& s) { return s.output_overflows + s.silent_closed; }},
    {"auth_failed_count", &FrontStats::auth_failures, MetricKind::kGauge},
    {"", &FrontStats::zxid_ahead},
    {"", &FrontStats::latency_ms},      // server/metrics.cc
    {"", &FrontStats::response_bytes},  // server/metrics.cc
};

}  // namespace drover::replica
