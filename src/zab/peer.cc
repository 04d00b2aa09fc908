// SPDX-License-Identifier: Apache-2.0
#include "zab/peer.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "zab/epoch_claim.h"
#include "zab/membership_text.h"

namespace drover::zab {
namespace {

constexpr std::size_t kHeldLinksMax = 64;
// A drover leader steps down at the first greeting. A leader that refused us this often is Java's, and never
// will.
constexpr int kTooOldTimesMax = 2;
// A learner that has waited for a second waits in vain: this server has heard of a later election than the
// one that made it the leader. Java's learners retry for about as long.
constexpr std::int64_t kHeldMaxMs = 1000;

ElectionConfig election_config(const PeerConfig& config) {
  return {.me = config.me,
          .observer = config.observer,
          .notification_min_ms = config.notification_min_ms,
          .notification_max_ms = config.notification_max_ms,
          .finalize_ms = config.finalize_ms};
}

bool begins_history(const DiskOrder& order) {
  const auto* save = std::get_if<SaveEpoch>(&order);
  const auto* snapshot = std::get_if<SaveSnapshot>(&order);
  return std::holds_alternative<AppendTxns>(order) || (save && save->kind == EpochKind::kCurrent) ||
         (snapshot && snapshot->zxid > Zxid{0});
}

}  // namespace

Peer::Peer(const PeerConfig& config, Memberships memberships, History history, const PeerStart& start)
    : config_(config),
      memberships_(std::move(memberships)),
      history_(std::move(history)),
      epochs_(start),
      election_(election_config(config), memberships_) {
  contradicted_ = start.contradicted;
  memberships_seen_ = memberships_.changes();
}

bool Peer::is_observer() const {
  if (!config_.reconfig_enabled) return config_.observer;
  // Where its vote may be needed, it is there.
  return membership().observers().contains(config_.me) && !memberships_.takes_part(config_.me);
}

bool Peer::active() const {
  if (leader_) return leader_->phase() == Leader::Phase::kBroadcast;
  return learner_ && learner_->phase() == Learner::Phase::kBroadcast;
}

void Peer::start(Instant now, Effects& effects) {
  begin(effects);
  unavailable_since_ = now;
  election_due_ = !config_.standalone;
  if (config_.standalone) make_leader(now, effects);
  settle(now, effects);
}

// --- roles ---

void Peer::change_roles(Instant now, Effects& effects) {
  if (leader_ && leader_->over()) look(leader_->why_over(), now, effects);
  if (learner_ && learner_->over()) look(learner_->why_over(), now, effects);
  count_orders(effects);
  if (election_due_ && orders_open_ == 0 && !discarding_) begin_election(now, effects);
  if (role_ == Role::kLooking && !election_due_ && !election_.looking()) begin_role(now, effects);
  count_orders(effects);
}

void Peer::settle(Instant now, Effects& effects) {
  follow_memberships(effects);
  change_roles(now, effects);
  // A learner that came early may have ended the new leader's role at once. Its link is no longer held.
  if (leader_ && leader_->over()) change_roles(now, effects);
  if (active() && !was_active_) {
    was_active_ = true;
    memberships_.forget_heard();  // As a leader. A learner has done so.
    follow_memberships(effects);
    if (leader_) trust_state();
    const auto waited = static_cast<std::uint64_t>(now - unavailable_since_);
    counts_.unavailable_ms.add(waited);
    if (leader_) counts_.leader_unavailable_ms.add(waited);
    if (learner_) {
      Extremes& sync_ms = role_ == Role::kObserving ? counts_.observer_sync_ms : counts_.follower_sync_ms;
      sync_ms.add(static_cast<std::uint64_t>(now - learner_->linked_since()));
    }
    election_.set_established_epoch(epochs_.current_epoch);
  }
}

// A promise counts only from a server that knows that it is empty. The mark on the disk keeps that true: a
// quorum has the mark before any server writes the first epoch of a history. So if a history has begun and an
// attempt is cut short, a quorum is left that need not doubt itself. A disk without the mark either took no
// part or was lost.
bool Peer::needs_mark(const DiskOrder& order) const {
  if (!epochs_.fresh || marked_ || std::holds_alternative<SaveSnapshot>(order)) return false;
  if (begins_history(order)) return true;
  const auto* save = std::get_if<SaveEpoch>(&order);
  const bool doubts = !history_heard_.empty() || (learner_ ? learner_->doubts_history() : !leader_);
  return save && save->kind == EpochKind::kAccepted && !doubts;
}

void Peer::count_orders(Effects& effects) {
  for (; counted_ < effects.disk.size(); ++counted_, ++orders_open_) {
    if (needs_mark(effects.disk[counted_])) {
      // A new history begins with a snapshot of the empty state, before anything else. From then on a log
      // without a snapshot means damage.
      const auto at = effects.disk.begin() + static_cast<std::ptrdiff_t>(counted_);
      effects.disk.insert(at, SaveSnapshot{Zxid{0}});
    }
    const DiskOrder& order = effects.disk[counted_];
    if (std::holds_alternative<SaveSnapshot>(order)) marked_ = true;
    if (begins_history(order)) epochs_.fresh = false;
    if (const auto* save = std::get_if<SaveEpoch>(&order); save && save->kind == EpochKind::kCurrent)
      ordered_history_id_ = save->history_id;
    if (const auto* cut = std::get_if<TruncateLog>(&order)) rewinds_.push_back(cut->last);
    if (const auto* snapshot = std::get_if<SaveSnapshot>(&order)) rewinds_.push_back(snapshot->zxid);
  }
}

void Peer::look(std::string why, Instant now, Effects& effects) {
  why_looking_ = std::move(why);
  effects.log.push_back("looking for a leader: " + why_looking_);
  if (was_active_) unavailable_since_ = now;
  end_role(effects);
  role_ = Role::kLooking;
  election_due_ = true;
}

void Peer::end_role(Effects& effects) {
  was_active_ = false;
  if (leader_) {
    if (const auto next = leader_->successor()) appointed_ = {*next, Zxid{memberships_.version()}};
    for (const auto& [link, learner] : leader_->learners()) effects.close.push_back(link);
    counts_.led.add(leader_->counts());
    leader_.reset();
    history_.keep_after(std::nullopt);
  }
  if (learner_) {
    // Half of the leader's state is useless; the state on the disk is still whole (ZOOKEEPER-3642).
    if (learner_->is_receiving_snapshot()) effects.disk.emplace_back(ReloadState{});
    effects.close.push_back(learner_->link());
    appointed_ = learner_->successor();
    remember_refusal(*learner_);
    counts_.learned.add(learner_->counts());
    learner_.reset();
  }
  if (effects.discard_history) discarding_ = true;
}

PeerCounts Peer::counts() const {
  PeerCounts all = counts_;
  if (leader_) all.led.add(leader_->counts());
  if (learner_) all.learned.add(learner_->counts());
  return all;
}

void Peer::begin_election(Instant now, Effects& effects) {
  election_due_ = false;
  election_began_ = now;
  ++counts_.looking;
  ENSURE(history_.durable() == history_.last(), "a vote names the last durable transaction");
  election_.set_observer(is_observer());
  if (take_appointment()) return;
  const bool knows = epochs_.knows_history && !(epochs_.fresh && !history_heard_.empty());
  const Zxid last = knows ? history_.last() : Zxid{-1};
  election_.set_may_lead(may_lead());
  election_.start(last, epochs_.current_epoch, now, effects.notify);
  for (const auto& [from, early] : std::exchange(early_, {})) {
    if (now - early.at > config_.notification_max_ms) continue;
    election_.on_notification(from, early.notification, now, effects.notify);
  }
}

void Peer::begin_role(Instant now, Effects& effects) {
  counts_.election_ms.add(static_cast<std::uint64_t>(now - election_began_));
  const ServerId chosen = election_.vote().leader;
  if (chosen == config_.me) {
    lead(now, effects);
  } else if (election_.refuses(chosen)) {  // and a quorum of the others follows it
    give_in(chosen, now, effects);
  } else {
    follow(chosen, now, effects);
  }
}

void Peer::give_in(ServerId leader, Instant now, Effects& effects) {
  trust_state();
  gave_in_ = {leader, now};
  discard_history("a quorum follows server " + std::to_string(raw(leader)) +
                      " without this server, which sets its files aside and takes the leader's state",
                  now, effects);
}

void Peer::make_leader(Instant now, Effects& effects) {
  role_ = Role::kLeading;
  led_since_ = now;
  leader_ = std::make_unique<Leader>(
      LeaderConfig{.me = config_.me,
                   .timing = config_.timing,
                   .sync = config_.sync,
                   .new_history_id = config_.new_history_id,
                   .standalone = config_.standalone,
                   .reconfig_enabled = config_.reconfig_enabled},
      memberships_, history_,
      Leader::Epochs{epochs_.accepted_epoch, epochs_.current_epoch, epochs_.history_id}, now, effects);
}

void Peer::lead(Instant now, Effects& effects) {
  ask_at_ = now + patience_for_voters();
  election_.settle(wire::PeerState::kLeading);
  effects.events.push_back(Event::kElected);
  effects.log.push_back("elected in round " + std::to_string(election_.round()) +
                        "; waiting for a quorum of followers");
  make_leader(now, effects);
  auto held = std::move(held_);
  held_.clear();
  for (auto& [link, early] : held) {
    leader_->on_link_accepted(link, now, effects);
    if (!early.info) continue;
    early.info->data = early.info_data;
    leader_->on_packet(link, *early.info, now, effects);
  }
}

bool Peer::only_looks_on(ServerId leader) const {
  return !is_observer() && too_old_ == leader && too_old_times_ >= kTooOldTimesMax;
}

void Peer::remember_refusal(const Learner& learner) {
  const bool again = learner.is_leader_too_old() && learner.leader() == too_old_;
  too_old_times_ = learner.is_leader_too_old() ? (again ? too_old_times_ : 0) + 1 : 0;
  too_old_ = learner.leader();
}

void Peer::follow(ServerId leader, Instant now, Effects& effects) {
  const bool looks_on = only_looks_on(leader);
  const bool observes = is_observer() || looks_on;
  role_ = observes ? Role::kObserving : Role::kFollowing;
  election_.settle(observes ? wire::PeerState::kObserving : wire::PeerState::kFollowing);
  effects.events.push_back(Event::kElected);
  effects.log.push_back("following server " + std::to_string(raw(leader)) + ", elected in round " +
                        std::to_string(election_.round()));
  for (const auto& [link, early] : held_) effects.close.push_back(link);
  held_.clear();
  const Learner::Start start{.accepted = epochs_.accepted_epoch,
                             .current = epochs_.current_epoch,
                             .knows_history = epochs_.knows_history,
                             .fresh = epochs_.fresh,
                             .leader_seems_empty = election_.leader_seems_empty(),
                             .history_exists = !history_heard_.empty(),
                             .history_id = epochs_.history_id,
                             .leader = leader,
                             .link = LinkId{kDialledLinks | ++next_dial_}};
  learner_ = std::make_unique<Learner>(
      LearnerConfig{config_.me, observes, config_.timing, looks_on, config_.reconfig_enabled}, memberships_,
      history_, start, now, effects);
}

void Peer::propose(TxnBatchPtr batch, Instant now, Effects& effects) {
  begin(effects);
  leader_->propose(std::move(batch), now, effects);
  follow_memberships(effects);
  count_orders(effects);
}

void Peer::step_down(std::string why, Instant now, Effects& effects) {
  begin(effects);
  if (leader_) leader_->step_down(std::move(why));
  settle(now, effects);
}

void Peer::contest_leader(const std::string& why, Instant now, Effects& effects) {
  begin(effects);
  if (!learner_) return;
  const ServerId leader = learner_->leader();
  // By then the followers of a leader have logged and compared what we have, or the leader has left them
  // behind.
  election_.refuse(leader, config_.timing.sync_ms());
  effects.events.push_back(Event::kLeaderContested);
  look(why + ": this server or server " + std::to_string(raw(leader)) +
           " has a wrong state. This server keeps its state until a quorum of the others follows the other "
           "one",
       now, effects);
  settle(now, effects);
}

bool Peer::gave_in_since(Instant since) const {
  return learner_ && gave_in_ && gave_in_->first == learner_->leader() && gave_in_->second >= since;
}

// The other servers are away, or doubt as we do, or lack something that we have. If this state is wrong, a
// majority of them will say so.
void Peer::become_last_resort(Instant now, Effects& effects) {
  if (role_ != Role::kLooking || election_due_ || may_lead() || is_observer()) return;
  if (now - unavailable_since_ < config_.timing.init_ms()) return;
  last_resort_ = true;
  look("no other server leads, so this one may, although its files contradict each other", now, effects);
}

void Peer::trust_state() {
  contradicted_ = false;
  last_resort_ = false;
  election_.trust_all();
}

void Peer::discard_history(std::string why, Instant now, Effects& effects) {
  effects.discard_history = true;
  look(std::move(why), now, effects);
  settle(now, effects);
}

// --- election ---

// The election and the host follow what leader and learner do to the memberships.
void Peer::follow_memberships(Effects& effects) {
  if (memberships_.changes() == memberships_seen_) return;
  memberships_seen_ = memberships_.changes();
  effects.memberships_changed = true;
  election_.set_memberships(memberships_);
}

// Only members are believed, and a version is a zxid, so it cannot be of an epoch that no server has reached.
std::optional<Membership> Peer::believable(const std::string& text) const {
  auto theirs = parse_membership(text, {.multi_address = true});
  if (!theirs || theirs->voters().empty() || theirs->version() <= memberships_.version()) return std::nullopt;
  const std::uint32_t epoch = epoch_of(Zxid{theirs->version()});
  if (!is_believable_epoch(epoch, epochs_.accepted_epoch)) return std::nullopt;
  return std::move(*theirs);
}

// A voter has a later membership than ours. It is committed, so ours is no longer valid: we could elect a
// leader that the ensemble has left behind. While we have a leader, the leader tells us.
bool Peer::adopt_membership(ServerId from, const wire::Notification& notification, Instant now,
                            Effects& effects) {
  if (!config_.reconfig_enabled || role_ != Role::kLooking || notification.config.empty()) return false;
  if (!memberships_.is_member(from)) return false;
  auto theirs = believable(notification.config);
  if (!theirs) return false;
  effects.log.push_back("server " + std::to_string(raw(from)) +
                        " has a later membership, which replaces ours: " + on_one_line(notification.config));
  effects.events.push_back(Event::kMembershipActivated);
  memberships_.adopt(std::move(*theirs), effects);
  follow_memberships(effects);
  look("the ensemble was reconfigured", now, effects);
  return true;
}

// A voter has logged a reconfiguration that we have not. Only a quorum of its members can commit it, and they
// may need our vote, or want a leader that we do not know yet. As in Raft, a server votes for whoever has the
// longest history; the candidate itself knows which votes count. Java's servers do not do this, and wait.
bool Peer::hear_membership(ServerId from, const wire::Notification& notification, Instant now,
                           Effects& effects) {
  if (!config_.reconfig_enabled || role_ != Role::kLooking || notification.proposed.empty()) return false;
  if (!memberships_.is_member(from)) return false;
  auto theirs = believable(notification.proposed);
  if (!theirs || !memberships_.hear(std::move(*theirs))) return false;
  follow_memberships(effects);
  look("server " + std::to_string(raw(from)) +
           " has a reconfiguration in its log: " + on_one_line(notification.proposed),
       now, effects);
  return true;
}

// The leader before has named the next one, so that no election is needed. If that one does not lead after
// all, its followers notice as with any other leader, and elect one.
bool Peer::take_appointment() {
  const auto appointed = std::exchange(appointed_, std::nullopt);
  if (!appointed || election_.refuses(appointed->leader)) return false;
  if (!membership().is_voter(appointed->leader)) return false;
  if (appointed->leader == config_.me && (!may_lead() || !epochs_.knows_history)) return false;
  election_.appoint(appointed->leader, appointed->reconfiguration);
  return true;
}

void Peer::remember(ServerId from, const wire::Notification& notification, Instant now) {
  if (!memberships_.is_member(from)) return;
  if (notification.state == wire::PeerState::kLooking || election_due_) {
    early_[from] = {notification, now};
  } else {
    early_.erase(from);
  }
}

// How long the servers that elected us may take to connect: longer than they may take to decide, and shorter
// than a client notices.
std::int64_t Peer::patience_for_voters() const {
  return std::min(config_.timing.tick_ms, 5 * config_.finalize_ms);
}

// A voter's history is at most its candidate's, or it would vote for itself. An epoch without a transaction
// is a history too: others may have logged something in it, and this disk may have held that. Only a server
// that has promised, knowing that it is empty, may be the one missing for the quorum of that beginning. A
// server that does not know its history and was in no epoch is as empty as we are, and waits for what it has
// heard of.
bool Peer::speaks_of_history(const wire::Notification& notification) const {
  const bool holds = raw(notification.zxid) > 0;
  const bool doubts = raw(notification.zxid) < 0;
  const bool begun = notification.peer_epoch > 0;
  return holds || (begun && (doubts || !marked_));
}

// True if this changes whether this server has a vote: then a new election hears the notification again.
bool Peer::listen_for_history(ServerId from, const wire::Notification& notification, Instant now,
                              Effects& effects) {
  if (!epochs_.fresh || !memberships_.is_voter(from)) return false;
  const bool waited = !history_heard_.empty();
  if (speaks_of_history(notification)) {
    history_heard_[from] = {now, std::nullopt};
    if (!waited) wait_for_history(now, effects);
    return !waited && role_ == Role::kLooking;
  }
  const auto heard = history_heard_.find(from);
  if (heard == history_heard_.end()) return false;
  Claim& claim = heard->second;
  if (!claim.empty_since) claim.empty_since = now;
  if (now - *claim.empty_since < config_.timing.init_ms()) return false;
  history_heard_.erase(heard);
  const bool over = history_heard_.empty() && role_ == Role::kLooking && !election_due_;
  if (over) look("the voter that had a history now reports that it is empty", now, effects);
  return over;
}

// An empty disk among servers that are not empty is a lost disk. Until it has the others' history, this
// server elects no leader and does not lead, and its promise proves nothing.
void Peer::wait_for_history(Instant now, Effects& effects) {
  if (learner_) return learner_->on_history_heard_of();
  const std::string why = "this server is empty, and a voter has a history: waiting for a leader that has it";
  if (leader_ && leader_->phase() == Leader::Phase::kDiscovery) leader_->step_down(why);
  if (role_ == Role::kLooking && !election_due_) look(why, now, effects);
}

// Elected, but no quorum has promised to follow. The servers that voted for us may be gone, or may not count
// because they do not know their history. If a server with more history than ours looks for a leader now,
// that is the server to wait for.
void Peer::reconsider(ServerId from, const wire::Notification& notification, Instant now) {
  const bool waiting = leader_ && leader_->phase() == Leader::Phase::kDiscovery;
  if (!waiting || notification.state != wire::PeerState::kLooking || !memberships_.is_voter(from)) return;
  const std::int64_t waited = now - led_since_;
  if (waited >= config_.timing.tick_ms && election_.is_better(notification)) {
    leader_->step_down("server " + std::to_string(raw(from)) + " knows of a better leader");
  } else if (leader_->is_missed() && notification.leader != config_.me && waited >= patience_for_voters()) {
    // Voters that came up while we were elected want another leader, and there are not enough voters for
    // both.
    leader_->step_down("server " + std::to_string(raw(from)) + " looks for another leader");
  } else if (config_.wait_for_epoch_ms >= 0 && waited > config_.wait_for_epoch_ms) {
    leader_->step_down("server " + std::to_string(raw(from)) + " looks for a leader again");
  }
}

// A leader does not hear the others' election. They may have changed their votes for us before we counted
// them. Then the others have another leader, and would wait for us until initLimit.
void Peer::ask_for_rival(Instant now, Effects& effects) {
  if (!leader_ || !leader_->lacks_voters() || now < ask_at_) return;
  ask_at_ = now + patience_for_voters();
  election_.ask_voters(effects.notify);
}

// Two quorums share a voter, so no quorum can establish us while all members of another one follow another
// leader. And a leader that is not established has made no promise, so it can always give up safely.
void Peer::yield_to_rival() {
  if (!leader_ || !leader_->lacks_voters()) return;
  if (const auto rival = election_.rival())
    leader_->step_down("a quorum follows server " + std::to_string(raw(*rival)) + " instead of this one");
}

void Peer::on_notification(ServerId from, const wire::Notification& notification, Instant now,
                           Effects& effects) {
  begin(effects);
  if (from == config_.me) return;  // Another process speaks in our name.
  if (adopt_membership(from, notification, now, effects) ||
      hear_membership(from, notification, now, effects)) {
    remember(from, notification, now);
    return settle(now, effects);
  }
  if (listen_for_history(from, notification, now, effects)) {
    remember(from, notification, now);
    return settle(now, effects);
  }
  if (role_ == Role::kLooking && election_due_) {
    // Our own vote is not known yet. The sender does not repeat this soon.
    remember(from, notification, now);
    return;
  }
  if (role_ != Role::kLooking) remember(from, notification, now);
  reconsider(from, notification, now);
  // The notification is remembered, and the next election hears it. An answer now would say that we still
  // lead.
  if (leader_ && leader_->over()) return settle(now, effects);
  election_.on_notification(from, notification, now, effects.notify);
  yield_to_rival();
  settle(now, effects);
}

// --- links ---

void Peer::on_link(const LinkEvent& event, Instant now, Effects& effects) {
  begin(effects);
  const LinkId link = event.link;
  const bool to_leader = learner_ && learner_->link() == link;
  switch (event.kind) {
    case LinkEvent::Kind::kAccepted: accept(link, now, effects); break;
    case LinkEvent::Kind::kUp:
      if (to_leader) {
        learner_->on_link_up(now, effects);
      } else {
        effects.close.push_back(link);
      }
      break;
    case LinkEvent::Kind::kDialFailed:
      if (to_leader) learner_->on_dial_failed(now);
      break;
    case LinkEvent::Kind::kDown:
      held_.erase(link);
      if (leader_) leader_->on_link_down(link, now, effects);
      if (to_leader) learner_->on_link_down();
      break;
    case LinkEvent::Kind::kTaken:
      if (leader_) leader_->on_taken(link, now);
      return;  // It decides nothing.
    case LinkEvent::Kind::kStateSent:
      if (leader_) leader_->on_state_sent(link, now, effects);
      break;
    case LinkEvent::Kind::kLogReady:
      if (leader_) leader_->on_log_ready(link, now, effects);
      break;
    case LinkEvent::Kind::kNoLog:
      if (leader_) leader_->on_no_log(link, now, effects);
      break;
  }
  settle(now, effects);
}

void Peer::accept(LinkId link, Instant now, Effects& effects) {
  if (leader_) {
    leader_->on_link_accepted(link, now, effects);
  } else if (role_ == Role::kLooking) {
    if (held_.size() >= kHeldLinksMax) drop_a_held_link(effects);
    held_[link].since = now;  // It knows the result of the election before we do.
  } else {
    effects.close.push_back(link);
  }
}

// Drops the oldest link that has not greeted, or else the oldest.
void Peer::drop_a_held_link(Effects& effects) {
  const auto stranger = std::ranges::find_if(held_, [](const auto& held) { return !held.second.info; });
  const auto dropped = stranger != held_.end() ? stranger : held_.begin();
  effects.close.push_back(dropped->first);
  held_.erase(dropped);
}

void Peer::on_packet(LinkId link, const wire::QuorumPacket& packet, Instant now, Effects& effects) {
  begin(effects);
  if (leader_) {
    leader_->on_packet(link, packet, now, effects);
  } else if (learner_ && learner_->link() == link) {
    learner_->on_packet(packet, now, effects);
  } else if (const auto held = held_.find(link); held != held_.end()) {
    if (held->second.info) {  // It may only greet; all other packets wait for an answer.
      held_.erase(held);
      effects.close.push_back(link);
    } else {
      held->second.info = packet;
      held->second.info_data = std::string(packet.data.value_or(""));
    }
  }
  settle(now, effects);
}

void Peer::on_packets_end(LinkId link, Instant now, Effects& effects) {
  begin(effects);
  if (learner_ && learner_->link() == link) learner_->flush(effects);
  settle(now, effects);
}

void Peer::on_heard(LinkId link, Instant now) {
  if (leader_) leader_->on_heard(link, now);
  if (learner_ && learner_->link() == link) learner_->on_heard(now);
}

void Peer::on_snapshot_received(std::string_view membership, Instant now, Effects& effects) {
  begin(effects);
  if (learner_ && learner_->is_receiving_snapshot()) learner_->on_snapshot_received(membership, effects);
  settle(now, effects);
}

// --- answers of the disk ---

void Peer::on_disk(const DiskAnswer& answer, Instant now, Effects& effects) {
  begin(effects);
  std::visit([&](const auto& each) { on(each, now, effects); }, answer);
  settle(now, effects);
}

void Peer::on(const TxnsDurable& answer, Instant now, Effects& effects) {
  ENSURE(orders_open_ >= answer.orders, "the disk answers only open orders");
  orders_open_ -= answer.orders;
  // Transactions that were cut off may come again under the same zxid. That the old ones were durable says
  // nothing about the new ones.
  if (!rewinds_.empty()) return;
  history_.set_durable(answer.last);
  if (leader_) leader_->on_durable(now, effects);
  if (learner_) learner_->on_durable(effects);
}

void Peer::on(const EpochSaved& answer, Instant now, Effects& effects) {
  ENSURE(orders_open_ > 0, "the disk answers only open orders");
  --orders_open_;
  const auto [kind, epoch] = answer;
  std::uint32_t& saved = kind == EpochKind::kAccepted ? epochs_.accepted_epoch : epochs_.current_epoch;
  ENSURE(epoch >= saved, "epochs never decrease");
  saved = epoch;
  if (kind == EpochKind::kCurrent) epochs_.history_id = ordered_history_id_;
  if (leader_) leader_->on_epoch_saved(kind, epoch, now, effects);
  if (learner_) learner_->on_epoch_saved(kind, epoch, effects);
}

void Peer::end_rewind() {
  ENSURE(orders_open_ > 0 && !rewinds_.empty(), "the disk answers only open orders");
  --orders_open_;
  if (rewinds_.size() == 1) history_.set_durable(rewinds_.front());
  rewinds_.pop_front();
}

void Peer::on(const LogTruncated& answer, Instant now, Effects& effects) {
  if (answer.done) return end_rewind();
  ENSURE(orders_open_ > 0 && !rewinds_.empty(), "the disk answers only open orders");
  orders_open_ = 0;
  rewinds_.clear();
  discard_history("transactions that the leader does not have cannot be truncated", now, effects);
}

void Peer::on(const SnapshotSaved&, Instant, Effects&) {
  end_rewind();
  // A leader that a quorum had promised to follow sent it, so it holds everything committed.
  epochs_.knows_history = true;
  trust_state();  // It is the leader's now.
}

void Peer::on(const StateReloaded&, Instant, Effects&) {
  ENSURE(orders_open_ > 0, "the disk answers only open orders");
  --orders_open_;
  // As at a start: the state holds what was on the disk, and a leader will tell which part was not agreed on.
  if (!learner_) history_.set_committed(std::max(history_.committed(), history_.applied()));
}

void Peer::on(const MembershipStored&, Instant, Effects&) {
  ENSURE(orders_open_ > 0, "the disk answers only open orders");
  --orders_open_;
}

void Peer::on(const HistoryDiscarded&, Instant, Effects&) {
  discarding_ = false;
  trust_state();  // There is none.
  epochs_.knows_history = false;
  history_.begin_at(Zxid{0});
}

// --- time ---

void Peer::on_time(Instant now, Effects& effects) {
  begin(effects);
  if (leader_) leader_->on_time(now, effects);
  ask_for_rival(now, effects);
  if (learner_) learner_->on_time(now, effects);
  if (role_ == Role::kLooking && !election_due_) election_.on_time(now, effects.notify);
  become_last_resort(now, effects);
  for (auto held = held_.begin(); held != held_.end();) {
    if (now < held_until(held->second)) {
      ++held;
      continue;
    }
    effects.close.push_back(held->first);
    held = held_.erase(held);
  }
  settle(now, effects);
}

Instant Peer::held_until(const HeldLink& held) const {
  return held.since + std::min(kHeldMaxMs, config_.timing.init_ms());
}

std::optional<Instant> Peer::next_time() const {
  if (config_.standalone) return std::nullopt;
  if (leader_)
    return leader_->lacks_voters() ? std::min(ask_at_, leader_->next_time()) : leader_->next_time();
  if (learner_) return learner_->next_time();
  std::optional<Instant> next = election_due_ ? std::nullopt : election_.next_time();
  for (const auto& [link, held] : held_) {
    const Instant until = held_until(held);
    next = next ? std::min(*next, until) : until;
  }
  return next;
}

}  // namespace drover::zab
