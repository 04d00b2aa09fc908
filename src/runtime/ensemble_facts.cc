// SPDX-License-Identifier: Apache-2.0
#include "runtime/ensemble_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/metric_values.h"

namespace drover::server {
namespace {

using Stage = zab::LearnerLink::Stage;

std::string_view phase_name(const zab::Peer& peer) {
  using LeaderPhase = zab::Leader::Phase;
  using LearnerPhase = zab::Learner::Phase;
  if (const zab::Leader* leader = peer.leader()) {
    switch (leader->phase()) {
      case LeaderPhase::kDiscovery: return "discovery";
      case LeaderPhase::kSynchronisation: return "synchronization";
      default: return "broadcast";
    }
  }
  if (const zab::Learner* learner = peer.learner()) {
    switch (learner->phase()) {
      case LearnerPhase::kDialling:
      case LearnerPhase::kDiscovery: return "discovery";
      case LearnerPhase::kSync:
      case LearnerPhase::kSynced: return "synchronization";
      default: return "broadcast";
    }
  }
  return "election";
}

std::string_view role_name(zab::Role role) {
  switch (role) {
    case zab::Role::kLooking: return "looking";
    case zab::Role::kFollowing: return "following";
    case zab::Role::kLeading: return "leading";
    case zab::Role::kObserving: return "observing";
  }
  return "looking";
}

// -1: the leader is unknown.
ServerId leader_of(const zab::Peer& peer) {
  if (peer.leader()) return peer.config().me;
  return peer.learner() ? peer.learner()->leader() : ServerId{-1};
}

std::int64_t count_learners(const zab::Leader& leader, bool (*counts)(const zab::LearnerLink&)) {
  return std::count_if(leader.learners().begin(), leader.learners().end(),
                       [&](const auto& each) { return counts(each.second); });
}

// The number of our transactions that a learner has not acknowledged. Observers do not acknowledge.
std::int64_t lag_of(const zab::Leader& leader, const zab::LearnerLink& learner, const zab::History& history) {
  if (learner.observer || history.last() <= learner.acked) return 0;
  const bool same_epoch = epoch_of(learner.acked) == leader.epoch();
  return same_epoch ? raw(history.last()) - raw(learner.acked) : counter_of(history.last());
}

ProposalSizes sizes_of(const zab::Leader& leader) {
  const auto& sizes = leader.proposal_bytes();
  if (sizes.max == 0) return {};
  return {static_cast<std::int64_t>(sizes.last), static_cast<std::int64_t>(sizes.min),
          static_cast<std::int64_t>(sizes.max)};
}

void append_leader_metrics(const zab::Leader& leader, const zab::History& history,
                           std::vector<Metric>& metrics) {
  const auto count = [&](std::string_view name, bool (*counts)(const zab::LearnerLink&)) {
    metrics.push_back({std::string(name), count_learners(leader, counts)});
  };
  using Link = zab::LearnerLink;
  count("learners", [](const Link& l) { return l.stage >= Stage::kSyncing; });
  count("synced_followers", [](const Link& l) { return l.stage == Stage::kActive && l.voter; });
  count("synced_non_voting_followers",
        [](const Link& l) { return l.stage == Stage::kActive && !l.voter && !l.observer; });
  count("synced_observers", [](const Link& l) { return l.stage == Stage::kActive && l.observer; });
  metrics.push_back({"proposals_outstanding", static_cast<std::int64_t>(leader.outstanding())});
  metrics.push_back({"pending_syncs", static_cast<std::int64_t>(leader.pending_syncs())});
  const ProposalSizes sizes = sizes_of(leader);
  metrics.push_back({"last_proposal_size", sizes.last});
  metrics.push_back({"max_proposal_size", sizes.max});
  metrics.push_back({"min_proposal_size", sizes.min});
  for (const auto& [link, learner] : leader.learners()) {
    if (learner.stage < Stage::kPromised) continue;
    const auto prefix = fmt::format("learner_{}", raw(learner.server));
    metrics.push_back({prefix + "_state", std::string(name_of(learner.stage))});
    metrics.push_back({prefix + "_lag", lag_of(leader, learner, history)});
    // Java's packets wait for the thread of their learner. Here they go directly to the link's output.
    metrics.push_back({fmt::format("{}_learner_handler_qp_size", raw(learner.server)), Summary{}});
    metrics.push_back({fmt::format("{}_learner_handler_qp_time_ms", raw(learner.server)), Percentiles{}});
  }
}

}  // namespace

void add_role(const replica::Member& member, Facts& facts) {
  const zab::Peer& peer = member.peer();
  facts.serving = member.replica().service() != replica::Service::kNone;
  switch (peer.role()) {
    case zab::Role::kLeading: facts.mode = ServerMode::kLeader; break;
    case zab::Role::kObserving: facts.mode = ServerMode::kObserver; break;
    default: facts.mode = ServerMode::kFollower;
  }
  facts.peer_state = fmt::format("{} - {}", role_name(peer.role()), phase_name(peer));
  if (member.replica().service() == replica::Service::kReadOnly) {
    facts.mode = ServerMode::kReadOnly;
    facts.peer_state.clear();  // as in Java: only a server with a leader reports it
  }
  if (peer.leader()) facts.proposal_bytes = sizes_of(*peer.leader());
}

void append_peer_counts(const zab::PeerCounts& counts, std::vector<Metric>& metrics) {
  metrics.insert(metrics.end(), {counter_metric("looking_count", counts.looking),
                                 counter_metric("proposal_count", counts.led.proposals),
                                 counter_metric("commit_count", counts.led.commits),
                                 counter_metric("diff_count", counts.led.diffs),
                                 counter_metric("snap_count", counts.led.snaps),
                                 counter_metric("learner_proposal_received_count", counts.learned.proposals),
                                 counter_metric("learner_commit_received_count", counts.learned.commits),
                                 {"election_time", summary_of(counts.election_ms)},
                                 {"unavailable_time", summary_of(counts.unavailable_ms)},
                                 {"leader_unavailable_time", summary_of(counts.leader_unavailable_ms)},
                                 {"follower_sync_time", summary_of(counts.follower_sync_ms)},
                                 {"observer_sync_time", summary_of(counts.observer_sync_ms)},
                                 {"inflight_diff_count", summary_of(counts.led.diffs_under_way)},
                                 {"inflight_snap_count", summary_of(counts.led.snaps_under_way)}});
}

EnsembleFacts ensemble_facts(const replica::Member& member, const LinkLook& look, Instant now,
                             WallTime wall) {
  const zab::Peer& peer = member.peer();
  EnsembleFacts facts;
  facts.leader = leader_of(peer);
  facts.zab_state = phase_name(peer);
  facts.votes = !peer.config().observer;
  if (!peer.leader()) return facts;
  for (const auto& [link, learner] : peer.leader()->learners()) {
    if (!learner.observer || learner.stage != Stage::kActive) continue;
    const LinkFacts at = look ? look(link).value_or(LinkFacts{}) : LinkFacts{};
    facts.observers.push_back(
        {.server = learner.server,
         .last_zxid = peer.history().committed(),  // Observers do not acknowledge; they get commits at once.
         .remote = at.peer,
         .established = {wall.ms - (now - learner.traffic.since)},
         .queued_bytes = static_cast<std::int64_t>(at.queued_bytes),
         .packets_received = static_cast<std::int64_t>(learner.traffic.packets_received),
         .packets_sent = static_cast<std::int64_t>(learner.traffic.packets_sent),
         .requests = static_cast<std::int64_t>(learner.traffic.requests)});
  }
  return facts;
}

ConfFacts::Quorum quorum_of(const EnsembleConfig& config) {
  ConfFacts::Quorum q;
  q.init_limit_ticks = config.init_limit_ticks;
  q.sync_limit_ticks = config.sync_limit_ticks;
  const PeerSpec& self = config.members.servers.at(*config.my_id);
  for (const PeerAddress& address : self.addresses) {
    if (!q.election_ports.empty()) q.election_ports += '|';
    if (!q.quorum_ports.empty()) q.quorum_ports += '|';
    q.election_ports += std::to_string(address.election_port);
    q.quorum_ports += std::to_string(address.quorum_port);
  }
  q.peer_type = self.type == PeerType::kObserver ? 1 : 0;
  q.membership = to_text(config.members);
  return q;
}

void append_refusals(const PortRefusals& refusals, std::vector<Metric>& metrics) {
  using net::Refusal;
  if (!refusals.quorum || !refusals.election) return;
  const net::PeerRefusals& quorum = *refusals.quorum;
  const net::PeerRefusals& election = *refusals.election;
  metrics.push_back(counter_metric("quorum_port_rejected", quorum.total()));
  metrics.push_back(counter_metric("election_port_rejected", election.total()));
  constexpr std::pair<const char*, Refusal> kReasons[] = {
      {"peer_rejected_no_greeting", Refusal::kNoGreeting}, {"peer_rejected_late", Refusal::kLate},
      {"peer_rejected_crowded", Refusal::kCrowded},        {"peer_rejected_no_member", Refusal::kNoMember},
      {"peer_rejected_address", Refusal::kWrongAddress},   {"peer_rejected_handshake", Refusal::kHandshake},
  };
  for (const auto& [name, reason] : kReasons)
    metrics.push_back(counter_metric(name, quorum.of(reason) + election.of(reason)));
}

void append_ensemble_metrics(const replica::Member& member, Instant now, std::vector<Metric>& metrics) {
  const zab::Peer& peer = member.peer();
  metrics.push_back({"quorum_size", static_cast<std::int64_t>(peer.membership().voters.size())});
  if (const zab::Leader* leader = peer.leader()) {
    append_leader_metrics(*leader, peer.history(), metrics);
    metrics.push_back({"leader_uptime", now - peer.led_since()});
  }
  metrics.push_back({"leader_id", raw(leader_of(peer))});
  // An observer can only follow the leader.
  if (peer.role() == zab::Role::kObserving) metrics.push_back({"observer_master_id", raw(leader_of(peer))});
  metrics.push_back(counter_metric("learner_greetings_rejected", peer.counts().led.greetings_refused));
  metrics.push_back({"accepted_epoch", static_cast<std::int64_t>(peer.accepted_epoch())});
  metrics.push_back({"current_epoch", static_cast<std::int64_t>(peer.current_epoch())});
  metrics.push_back({"election_round", peer.election().round()});
  metrics.push_back({"last_logged_zxid", fmt::format("{:#x}", raw(peer.history().last()))});
  metrics.push_back({"last_committed_zxid", fmt::format("{:#x}", raw(peer.history().committed()))});
  metrics.push_back({"knows_history", std::int64_t{peer.knows_history() ? 1 : 0}});
  metrics.push_back({"last_election_reason", peer.why_looking()});
}

}  // namespace drover::server
