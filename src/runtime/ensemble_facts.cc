// SPDX-License-Identifier: Apache-2.0
#include "runtime/ensemble_facts.h"
#include "zab/membership_text.h"

#include <fmt/format.h>

#include <algorithm>

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

using Link = zab::LearnerLink;
using zab::Leader;
constexpr MetricKind kGauge = MetricKind::kGauge;

template <auto kCounts>
std::int64_t learners_that(const Leader& leader) {
  return std::ranges::count_if(leader.learners(), [](const auto& each) { return kCounts(each.second); });
}

constexpr MetricOf<Leader> kLeadingMetrics[] = {
    {"learners", &learners_that<[](const Link& l) { return l.stage >= Stage::kSyncing; }>, kGauge},
    {"synced_followers", &learners_that<[](const Link& l) { return l.stage == Stage::kActive && l.voter; }>,
     kGauge},
    {"synced_non_voting_followers",
     &learners_that<[](const Link& l) { return l.stage == Stage::kActive && !l.voter && !l.observer; }>,
     kGauge},
    {"synced_observers",
     &learners_that<[](const Link& l) { return l.stage == Stage::kActive && l.observer; }>, kGauge},
    {"proposals_outstanding", [](const Leader& leader) { return leader.outstanding(); }, kGauge},
    {"pending_syncs", [](const Leader& leader) { return leader.pending_syncs(); }, kGauge},
    {"last_proposal_size", [](const Leader& leader) { return sizes_of(leader).last; }, kGauge},
    {"max_proposal_size", [](const Leader& leader) { return sizes_of(leader).max; }, kGauge},
    {"min_proposal_size", [](const Leader& leader) { return sizes_of(leader).min; }, kGauge},
};

void append_learner_metrics(const Leader& leader, const zab::History& history, std::vector<Metric>& metrics) {
  for (const auto& [link, learner] : leader.learners()) {
    if (learner.stage < Stage::kPromised) continue;
    const std::int64_t id = raw(learner.server);
    metrics.push_back({fmt::format("learner_{}_state", id), std::string(name_of(learner.stage))});
    metrics.push_back({fmt::format("learner_{}_lag", id), lag_of(leader, learner, history)});
    // Java's packets wait for the thread of their learner. Here they go directly to the link's output.
    metrics.push_back({fmt::format("{}_learner_handler_qp_size", id), Extremes{}});
    metrics.push_back({fmt::format("{}_learner_handler_qp_time_ms", id), Percentiles{}});
  }
}

using zab::Peer;
constexpr MetricOf<Peer> kMemberMetrics[] = {
    {"quorum_size", [](const Peer& peer) { return peer.membership().voters().size(); }, kGauge},
    {"leader_id", [](const Peer& peer) { return raw(leader_of(peer)); }, kGauge},
    {"learner_greetings_rejected", [](const Peer& peer) { return peer.counts().led.greetings_refused; }},
    {"learner_syncs_rejected", [](const Peer& peer) { return peer.counts().led.syncs_refused; }},
    {"accepted_epoch", [](const Peer& peer) { return std::uint64_t{peer.accepted_epoch()}; }, kGauge},
    {"current_epoch", [](const Peer& peer) { return std::uint64_t{peer.current_epoch()}; }, kGauge},
    {"election_round", [](const Peer& peer) { return peer.election().round(); }, kGauge},
    {"last_logged_zxid", [](const Peer& peer) { return fmt::format("{:#x}", raw(peer.history().last())); }},
    {"last_committed_zxid",
     [](const Peer& peer) { return fmt::format("{:#x}", raw(peer.history().committed())); }},
    {"knows_history", [](const Peer& peer) { return std::int64_t{peer.knows_history() ? 1 : 0}; }, kGauge},
    {"last_election_reason", [](const Peer& peer) { return std::string(peer.why_looking()); }},
};

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

EnsembleFacts ensemble_facts(const replica::Member& member, const LinkLook& look, Instant now,
                             WallTime wall) {
  const zab::Peer& peer = member.peer();
  EnsembleFacts facts;
  facts.leader = leader_of(peer);
  facts.zab_state = phase_name(peer);
  facts.votes = !peer.is_observer();
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

ConfFacts::Quorum quorum_of(const EnsembleConfig& config, const zab::Memberships& memberships) {
  ConfFacts::Quorum q;
  q.init_limit_ticks = config.init_limit_ticks;
  q.sync_limit_ticks = config.sync_limit_ticks;
  const PeerSpec* live = memberships.find(*config.my_id);
  // A server that was removed shows what it was.
  const PeerSpec& self = live ? *live : config.members.servers().at(*config.my_id);
  for (const PeerAddress& address : self.addresses) {
    if (!q.election_ports.empty()) q.election_ports += '|';
    if (!q.quorum_ports.empty()) q.quorum_ports += '|';
    q.election_ports += std::to_string(address.election_port);
    q.quorum_ports += std::to_string(address.quorum_port);
  }
  q.peer_type = self.type == PeerType::kObserver ? 1 : 0;
  q.membership = to_text(memberships.committed());
  return q;
}

void append_refusals(const PortRefusals& refusals, std::vector<Metric>& metrics) {
  if (!refusals.quorum || !refusals.election) return;
  const auto add = [&](std::string_view name, std::uint64_t count) {
    metrics.push_back({std::string(name), metric_value(count), MetricKind::kCounter});
  };
  add("quorum_port_rejected", refusals.quorum->total());
  add("election_port_rejected", refusals.election->total());
  for (std::size_t i = 0; i < net::kRefusalMetrics.size(); ++i) {
    const auto reason = static_cast<net::Refusal>(i);
    add(net::kRefusalMetrics[i], refusals.quorum->of(reason) + refusals.election->of(reason));
  }
}

void append_ensemble_metrics(const replica::Member& member, Instant now, std::vector<Metric>& metrics) {
  const Peer& peer = member.peer();
  append_metrics(kMemberMetrics, peer, metrics);
  if (const Leader* leader = peer.leader()) {
    append_metrics(kLeadingMetrics, *leader, metrics);
    append_learner_metrics(*leader, peer.history(), metrics);
    metrics.push_back({"leader_uptime", now - peer.led_since()});
  }
  // An observer can only follow the leader.
  if (peer.role() == zab::Role::kObserving) metrics.push_back({"observer_master_id", raw(leader_of(peer))});
}

}  // namespace drover::server
