// SPDX-License-Identifier: Apache-2.0
//
// The metrics of a replica's counters.
#pragma once

#include "base/metric.h"
#include "replica/replica.h"

namespace drover::replica {

inline constexpr MetricOf<ReplicaStats> kReplicaMetrics[] = {
    {"connection_request_count",
     [](const ReplicaStats& s) { return s.sessions_created + s.reconnects + s.reconnects_refused; }},
    {"connection_revalidate_count",
     [](const ReplicaStats& s) { return s.reconnects + s.reconnects_refused; }},
    {"revalidate_count", &ReplicaStats::revalidations},
    {"stale_sessions_expired", &ReplicaStats::sessions_expired},
    {"request_commit_queued", &ReplicaStats::txns_agreed_on},
    {"stale_requests", &ReplicaStats::stale_requests},
    {"stale_requests_dropped", &ReplicaStats::stale_requests_dropped},
    {"throttled_ops", &ReplicaStats::throttled_ops},
    {"request_throttle_queue_time_ms", &ReplicaStats::throttled_ms},
    {"disk_full_refusals", &ReplicaStats::writes_refused_disk_full, MetricKind::kGauge},
    {"client_large_txns_refused", &ReplicaStats::txns_too_large, MetricKind::kGauge},
};

// A transaction is applied in the same round in which its commit is known. So a leader applies it when a
// quorum has acknowledged it, and a learner when the leader has committed it.
inline constexpr MetricOf<TxnAges> kAgeMetrics[] = {
    {"propagation_latency",
     [](const TxnAges& ages) {
       Histogram applied = ages.standalone;
       applied.add(ages.leading);
       applied.add(ages.learning);
       return applied;
     }},
    {"quorum_ack_latency", &TxnAges::leading},
    {"commit_propagation_latency", &TxnAges::learning},
    {"proposal_latency", &TxnAges::proposed},
    {"proposal_ack_creation_latency", &TxnAges::durable},
};

}  // namespace drover::replica
