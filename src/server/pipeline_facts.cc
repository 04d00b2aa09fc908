// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline_facts.h"

#include "monitor/metric_values.h"

namespace drover::server {
namespace {

// Prepare, and hand over to the log and to the other servers.
void append_preparing(const FactSources& s, std::vector<Metric>& metrics) {
  const state::ChangeCounts& changes = s.replica.change_counts();
  metrics.push_back(counter_metric("outstanding_changes_queued", changes.queued));
  metrics.push_back(counter_metric("outstanding_changes_removed", changes.removed));
  metrics.push_back({"prep_processor_queue_size", summary_of(s.core.queued_here)});
  metrics.push_back({"learner_request_processor_queue_size", summary_of(s.core.queued_for_leader)});
  metrics.push_back({"prep_processor_queue_time_ms", percentiles_of(s.core.queue_ms)});
  metrics.push_back({"prep_process_time", summary_of(s.core.prepare_ms)});
  metrics.push_back({"proposal_process_time", summary_of(s.core.hand_over_ms)});
}

void append_logging(const FactSources& s, std::vector<Metric>& metrics) {
  metrics.push_back({"sync_processor_queue_size", summary_of(s.log.queue_txns)});
  metrics.push_back({"sync_processor_queue_time_ms", percentiles_of(s.log.queue_ms)});
  metrics.push_back({"sync_process_time", summary_of(s.log.write_ms)});
  metrics.push_back({"sync_processor_queue_flush_time_ms", percentiles_of(s.log.sync_ms)});
}

// A transaction is applied in the same round in which its commit is known, together with all other committed
// ones.
void append_applying(const FactSources& s, std::vector<Metric>& metrics) {
  metrics.push_back(counter_metric("request_commit_queued", s.replica.stats().txns_agreed_on));
  metrics.push_back({"commit_commit_proc_req_queued", summary_of(s.core.applied_txns)});
  metrics.push_back({"write_commit_proc_issued", summary_of(s.core.applied_txns)});
  metrics.push_back({"write_batch_time_in_commit_processor", summary_of(s.core.apply_ms)});
  metrics.push_back({"commit_process_time", summary_of(s.core.apply_ms)});
}

// The age of a transaction at each point. For the reason above, a leader applies it when a quorum has
// acknowledged it, and a learner when the leader has committed it.
void append_ages(const replica::TxnAges& ages, std::vector<Metric>& metrics) {
  Histogram applied = ages.alone;
  applied.add(ages.leading);
  applied.add(ages.learning);
  metrics.push_back({"propagation_latency", percentiles_of(applied)});
  metrics.push_back({"quorum_ack_latency", percentiles_of(ages.leading)});
  metrics.push_back({"commit_propagation_latency", percentiles_of(ages.learning)});
  metrics.push_back({"proposal_latency", percentiles_of(ages.proposed)});
  metrics.push_back({"proposal_ack_creation_latency", percentiles_of(ages.durable)});
}

void append_connections(const FactSources& s, std::vector<Metric>& metrics) {
  replica::FrontTotals all;
  for (const replica::Front* front : s.fronts) all.add(front->totals());
  metrics.push_back({"non_mtls_local_conn_count", s.plain_from_here});
  metrics.push_back({"non_mtls_remote_conn_count", s.plain_from_elsewhere});
  metrics.push_back(counter_metric("insecure_admin_count", s.insecure_admin));
  metrics.push_back(counter_metric("stale_replies", all.stale_replies));
  metrics.push_back(counter_metric("cnxn_closed_without_zk_server_running", all.not_served));
  metrics.push_back(counter_metric("ensemble_auth_skip", all.ensemble_names.skipped));
  metrics.push_back(counter_metric("ensemble_auth_success", all.ensemble_names.right));
  metrics.push_back(counter_metric("ensemble_auth_fail", all.ensemble_names.wrong));
  metrics.push_back(counter_metric("revalidate_count", s.replica.stats().revalidations));
  // Clients that reached a limit.
  metrics.push_back(counter_metric("client_watches_refused", all.watches_refused));
  metrics.push_back(counter_metric("client_replies_refused", all.replies_refused));
  metrics.push_back(counter_metric("client_identities_refused", all.identities_refused));
  metrics.push_back(counter_metric("client_event_overflows", all.event_overflows));
  metrics.push_back(counter_metric("client_output_overflows", all.output_evictions));
  metrics.push_back(counter_metric("client_work_paused", all.rested));
}

void append_admin(const AdminCounts::Values& admin, std::vector<Metric>& metrics) {
  metrics.push_back(counter_metric("snapshot_error_count", admin.snapshots_failed));
  metrics.push_back(counter_metric("snapshot_rate_limited_count", admin.snapshots_limited));
  metrics.push_back({"restore_time", summary_of(admin.restore_ms)});
  metrics.push_back(counter_metric("restore_error_count", admin.restores_failed));
  metrics.push_back(counter_metric("restore_rate_limited_count", admin.restores_limited));
}

}  // namespace

void append_pipeline_metrics(const FactSources& sources, std::vector<Metric>& metrics) {
  append_preparing(sources, metrics);
  append_logging(sources, metrics);
  append_applying(sources, metrics);
  append_ages(sources.replica.stats().ages, metrics);
  append_connections(sources, metrics);
  append_admin(sources.admin, metrics);
}

}  // namespace drover::server
