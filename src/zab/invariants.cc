// SPDX-License-Identifier: Apache-2.0
//
// Invariants of one server by itself.
#include "zab/invariants.h"

#include <algorithm>

#include "base/text.h"
#include "wire/txns.h"
#include "zab/invariants_check.h"

namespace drover::zab {
namespace {

std::string text_of(Zxid zxid) { return raw(zxid) < 0 ? "none" : hex_text(zxid); }

const char* name_of(Role role) {
  switch (role) {
    case Role::kLooking: return "looking";
    case Role::kFollowing: return "following";
    case Role::kLeading: return "leading";
    case Role::kObserving: return "observing";
  }
  return "?";
}

}  // namespace

std::string Invariants::Check::text() const {
  if (broken_.empty()) return {};
  const History& history = peer_.history();
  return "server " + std::to_string(raw(peer_.config().me)) + ", " + name_of(peer_.role()) +
         ": not true that " + std::string(broken_) + " (epochs accepted " +
         std::to_string(peer_.accepted_epoch()) + ", current " + std::to_string(peer_.current_epoch()) +
         "; last " + text_of(history.last()) + ", durable " + text_of(history.durable()) + ", committed " +
         text_of(history.committed()) + ")";
}

std::string Invariants::broken_in(const Peer& peer) {
  Check check(peer);
  look_at(peer, check);
  return check.text();
}

void Invariants::look_at(const Peer& peer, Check& check) {
  look_at_roles(peer, check);
  look_at_history(peer.history_, check);
  if (peer.leader_) look_at_leader(peer, *peer.leader_, check);
  if (peer.learner_) look_at_learner(peer, *peer.learner_, check);
}

void Invariants::look_at_roles(const Peer& peer, Check& check) {
  const PeerStart& epochs = peer.epochs_;
  check.expect((peer.role_ == Role::kLeading) == (peer.leader_ != nullptr),
               "a server leads exactly while it has a Leader");
  const bool follows = peer.role_ == Role::kFollowing || peer.role_ == Role::kObserving;
  check.expect(follows == (peer.learner_ != nullptr), "a server follows exactly while it has a Learner");
  const bool handing_over = peer.leader_ && peer.leader_->phase_ == Leader::Phase::kHandingOver;
  check.expect(!peer.leader_ || handing_over || peer.memberships_.is_voter(peer.config_.me),
               "only voters lead");
  check.expect(!peer.leader_ || epochs.knows_history, "a leader knows its history");
  check.expect(!peer.leader_ || peer.may_lead(),
               "a server whose state contradicts its log leads only as a last resort");
  check.expect(!peer.learner_ || !peer.election_.refuses(peer.learner_->leader()),
               "no server follows a leader whose state contradicts its own");
  // A learner takes its role in a new membership when it is synced.
  const bool synced = peer.learner_ && peer.learner_->phase_ == Learner::Phase::kBroadcast;
  check.expect(
      peer.role_ != Role::kFollowing || !peer.is_observer() || (peer.config_.reconfig_enabled && !synced),
      "an observer only observes");

  check.expect(epochs.current_epoch <= epochs.accepted_epoch, "an epoch is accepted before it is current");
  check.expect(peer.config_.standalone || !epochs.knows_history ||
                   epoch_of(peer.history_.last()) <= epochs.accepted_epoch,
               "no server logs transactions of an epoch that it did not accept");
  check.expect(peer.rewinds_.size() <= peer.orders_open_,
               "every rewind of the history has an open disk order");

  const bool votes = peer.role_ == Role::kLooking && !peer.election_due_;
  check.expect(!votes || (peer.orders_open_ == 0 && peer.history_.durable() == peer.history_.last()),
               "a vote names the last durable transaction");
  check.expect(!votes || !peer.discarding_, "a server does not vote while it discards its history");
  check.expect(!votes || peer.election_.proposal().round == peer.election_.round(),
               "a vote belongs to the current round");
}

void Invariants::look_at_history(const History& history, Check& check) {
  check.expect(history.durable_ <= history.last_, "durable transactions were logged");
  check.expect(history.committed_ <= history.last_, "committed transactions were logged");
  check.expect(history.applied_ <= history.committed_, "applied transactions are committed");
  check.expect(history.window_begin_ <= std::min(history.durable_, history.committed_),
               "forgotten transactions were durable and committed");
  // A gap begins at the end: where the last batch was appended.
  Zxid before = history.batches_.size() < 2 ? history.window_begin_ : history.batches_.end()[-2]->last;
  if (!history.batches_.empty()) {
    const TxnBatch& newest = *history.batches_.back();
    for (std::size_t i = 0; i < newest.size(); ++i) {
      const Zxid zxid = wire::zxid_of_entry(newest.entry(i));
      check.expect(follows(zxid, before), "a history has no holes");
      before = zxid;
    }
  }
  check.expect(before == history.last_, "the window ends where the history ends");
}

// --- leading ---

void Invariants::look_at_leader(const Peer& peer, const Leader& leader, Check& check) {
  const History& history = leader.history_;
  const bool established = leader.phase_ >= Leader::Phase::kBroadcast;
  check.expect(!leader.over(), "a leading server has not given up");
  if (!leader.config_.standalone) look_at_epoch(peer, leader, check);

  check.expect(history.committed() >= leader.began_with_last_,
               "the history that a leader starts with is committed");
  check.expect(established || history.last() == leader.began_with_last_,
               "only an established leader proposes");
  check.expect(history.last() == leader.began_with_last_ || epoch_of(history.last()) == leader.epoch_,
               "a leader proposes in its own epoch");

  ServerSet linked;
  for (const auto& [id, link] : leader.learners_) {
    check.expect(id == link.link, "a link is stored under its own id");
    look_at_link(leader, link, check);
    if (link.stage == LearnerLink::Stage::kGreeting) continue;
    check.expect(linked.insert(link.server).second, "a learner has one link");
  }
}

void Invariants::look_at_epoch(const Peer& peer, const Leader& leader, Check& check) {
  const bool established = leader.phase_ == Leader::Phase::kBroadcast;
  check.expect((leader.phase_ != Leader::Phase::kDiscovery) == leader.epoch_promised_,
               "discovery ends when a quorum has promised");
  check.expect(!leader.epoch_chosen_ || leader.epoch_ > leader.began_with_.accepted,
               "a leader's epoch is one that it never accepted before");
  check.expect(!leader.epoch_accepted_here_ || peer.epochs_.accepted_epoch == leader.epoch_,
               "a leader accepts its epoch itself, on disk");
  check.expect(!leader.history_current_here_ || peer.epochs_.current_epoch == leader.epoch_,
               "a leader acknowledges its own history when its epoch is current, on disk");
  check.expect(!established || leader.history_current_here_, "a leader serves in its current epoch");
  // A reconfiguration may have changed since who counts.
  const bool may_differ = leader.config_.reconfig_enabled && leader.phase_ >= Leader::Phase::kBroadcast;
  if (!may_differ) look_at_quorums(leader, check);
}

void Invariants::look_at_quorums(const Leader& leader, Check& check) {
  ServerSet reported;
  for (const auto& [server, accepted] : leader.accepted_epochs_) {
    reported.insert(server);
    check.expect(!leader.epoch_chosen_ || accepted < leader.epoch_,
                 "a leader's epoch is later than all that were reported");
  }
  check.expect(!leader.epoch_chosen_ || is_quorum(leader.memberships_, reported),
               "an epoch is chosen when a quorum has reported");
  ServerSet promised = leader.promised_;
  promised.insert(leader.config_.me);
  check.expect(!leader.epoch_promised_ || is_quorum(leader.memberships_, promised),
               "a leader synchronises when a quorum has promised");
}

void Invariants::look_at_link(const Leader& leader, const LearnerLink& link, Check& check) {
  using Stage = LearnerLink::Stage;
  const bool established = leader.phase_ >= Leader::Phase::kBroadcast;
  check.expect(link.stage < Stage::kPromising || leader.epoch_accepted_here_,
               "an epoch is proposed when the leader has accepted it");
  check.expect(link.stage < Stage::kSending || leader.epoch_promised_,
               "a learner is synchronised when a quorum has promised");
  check.expect(link.stage != Stage::kActive || established,
               "a learner serves when its leader is established");
  check.expect(leader.phase_ != Leader::Phase::kBroadcast || link.stage != Stage::kSynced,
               "a synced learner of an established leader is active");
  check.expect(link.stage == Stage::kGreeting || link.server != leader.config_.me,
               "no server follows itself");
  check.expect(!link.voter || (!link.observer && leader.memberships_.is_voter(link.server)),
               "only voters are counted");
  check.expect(link.acked <= leader.history_.last(), "acknowledged transactions were proposed");
  check.expect(link.sent <= leader.history_.last(), "a sent snapshot is not ahead of the leader");
  check.expect(link.stage != Stage::kSending || link.sent >= leader.history_.window_begin(),
               "what a learner gets after a state or a log is in memory");
  check.expect(link.pings_answered <= link.pings_sent, "a ping is answered once");
}

// --- learning ---

void Invariants::look_at_learner(const Peer& peer, const Learner& learner, Check& check) {
  using Phase = Learner::Phase;
  check.expect(!learner.over(), "a following server has not given up");
  // A difference from the leader goes through memberships of the past.
  const bool votes = learner.phase_ == Phase::kSync || peer.memberships_.takes_part(learner.leader());
  check.expect(votes && learner.leader() != peer.config_.me, "a learner follows another server, which votes");
  if (learner.phase_ < Phase::kSync) return;
  const std::uint32_t accepted = peer.epochs_.accepted_epoch;
  check.expect(learner.config_.looks_on || accepted == learner.epoch_,
               "an epoch is promised when it is on disk");
  check.expect(!learner.config_.looks_on || (learner.config_.observer && accepted > learner.epoch_),
               "a learner that may follow does not look on");
  look_at_sync(peer, learner, check);
  if (learner.phase_ < Phase::kSynced) return;
  check.expect(peer.epochs_.current_epoch == learner.epoch_,
               "NEWLEADER is acknowledged when the epoch is current, on disk");
  check.expect(peer.epochs_.knows_history, "NEWLEADER is acknowledged only with a known history");
  check.expect(learner.acked_ <= peer.history_.durable(), "acknowledged transactions are on disk");
  check.expect((learner.phase_ == Phase::kBroadcast) == learner.level_at_.has_value(),
               "a serving learner knows at which zxid it was synced");
}

void Invariants::look_at_sync(const Peer& peer, const Learner& learner, Check& check) {
  using Phase = Learner::Phase;
  const bool acked = learner.phase_ >= Phase::kSynced;
  check.expect(learner.new_leader_acked_ == acked,
               "a learner is synchronised once NEWLEADER is acknowledged");
  check.expect(!acked || learner.new_leader_seen_, "NEWLEADER is acknowledged after it arrived");
  check.expect(!learner.new_leader_seen_ || learner.sync_begun_, "NEWLEADER comes after the history");
  check.expect(!learner.receiving_snapshot_ || (learner.sync_begun_ && !learner.new_leader_seen_),
               "the leader's state comes before NEWLEADER");
  if (!learner.sync_begun_ || learner.receiving_snapshot_) return;
  check.expect(learner.received_ >= peer.history_.last(), "logged transactions were received");
  check.expect(learner.committed_ <= learner.received_, "committed transactions were received");
  check.expect(peer.history_.committed() <= learner.committed_,
               "a learner commits only what its leader committed");
}

}  // namespace drover::zab
