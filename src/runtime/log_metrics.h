// SPDX-License-Identifier: Apache-2.0
//
// The metrics of the log thread and of the snapshot thread.
#pragma once

#include "base/metric.h"
#include "runtime/log_thread.h"
#include "runtime/snapshot_thread.h"

namespace drover::server {

inline constexpr MetricOf<LogThread::Stats> kLogMetrics[] = {
    {"sync_processor_request_queued", &LogThread::Stats::txns},
    {"sync_processor_queue_size", &LogThread::Stats::queue_txns},
    {"sync_processor_batch_size", &LogThread::Stats::batch_txns},
    {"sync_process_time", &LogThread::Stats::write_ms},
    {"sync_processor_queue_time_ms", &LogThread::Stats::queue_ms},
    {"sync_processor_queue_flush_time_ms", &LogThread::Stats::sync_ms},
    {"sync_processor_queue_and_flush_time_ms", &LogThread::Stats::queue_and_flush_ms},
    {"fsynctime",
     [](const LogThread::Stats& s) {
       constexpr std::uint64_t kNs = 1'000'000;
       return Median{{s.syncs, s.sync_ns_sum / kNs, s.sync_ns_min / kNs, s.sync_ns_max / kNs},
                     s.sync_ms.percentile(500)};
     }},
};

inline constexpr MetricOf<SnapshotThread::Stats> kSnapshotMetrics[] = {
    {"snapshottime",
     [](const SnapshotThread::Stats& s) {
       return Extremes{s.snapshots, static_cast<std::uint64_t>(s.sum_ms),
                       static_cast<std::uint64_t>(s.min_ms), static_cast<std::uint64_t>(s.max_ms)};
     }},
};

}  // namespace drover::server
