// SPDX-License-Identifier: Apache-2.0
//
// The metrics of the core, under the names of Java's stages.
//
// Our stages differ from Java's (docs/compatibility.md, "Metrics"): each metric measures what happens at the
// same point of a write. Everything is counted once per batch, and nothing in the path of a read.
#pragma once

#include "base/metric.h"
#include "runtime/core.h"

namespace drover::server {

inline constexpr MetricOf<CoreStats> kCoreMetrics[] = {
    {"prep_processor_queue_size", &CoreStats::queued_here},
    {"learner_request_processor_queue_size", &CoreStats::queued_for_leader},
    {"prep_processor_queue_time_ms", &CoreStats::queue_ms},
    {"prep_process_time", &CoreStats::prepare_ms},
    {"proposal_process_time", &CoreStats::hand_over_ms},
    // A committed transaction waits for no other stage.
    {"commit_commit_proc_req_queued", &CoreStats::applied_txns},
    {"write_commit_proc_issued", &CoreStats::applied_txns},
    {"write_batch_time_in_commit_processor", &CoreStats::apply_ms},
    {"commit_process_time", &CoreStats::apply_ms},
};

}  // namespace drover::server
