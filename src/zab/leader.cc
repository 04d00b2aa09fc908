// SPDX-License-Identifier: Apache-2.0
//
// The leader's phases: what needs a quorum, and what happens once there is one.
#include "zab/leader.h"

#include <algorithm>

#include "base/ensure.h"

namespace drover::zab {
namespace {

constexpr std::ptrdiff_t kStrangersMax = 64;

}  // namespace

Leader::Leader(const LeaderConfig& config, Memberships& memberships, History& history, Epochs epochs,
               Instant now, Effects& effects)
    : config_(config),
      memberships_(memberships),
      history_(history),
      began_with_(epochs),
      began_with_last_(history.last()),
      phase_began_(now),
      next_ping_(now),
      next_check_(now + config.timing.tick_ms) {
  history_id_ = begins_history() ? config_.new_history_id : epochs.history_id;
  history_.set_committed(history_.last());
  accepted_epochs_[config_.me] = epochs.accepted;
  if (config_.standalone) {
    lead_alone();
  } else {
    choose_epoch(now, effects);
  }
}

// A standalone server needs no votes and has made no promises: the history continues in the epoch of its last
// transaction.
void Leader::lead_alone() {
  ENSURE(is_quorum_with_me({}), "a standalone server is a quorum");
  epoch_ = epoch_of(history_.last());
  epoch_chosen_ = epoch_accepted_here_ = epoch_promised_ = history_current_here_ = true;
  phase_ = Phase::kBroadcast;
}

const LearnerLink* Leader::find(LinkId link) const {
  const auto found = learners_.find(link);
  return found == learners_.end() ? nullptr : &found->second;
}

void Leader::end(std::string why) {
  if (over()) return;
  phase_ = Phase::kOver;
  why_over_ = std::move(why);
}

void Leader::enter(LearnerLink& learner, Stage stage, Instant now) {
  learner.stage = stage;
  learner.stage_began = now;
}

void Leader::drop(LinkId link, std::string why, Effects& effects) {
  const auto found = learners_.find(link);
  if (found == learners_.end()) return;
  if (found->second.stage == Stage::kGreeting) ++counts_.greetings_refused;
  effects.log.push_back("closing the link to learner " + std::to_string(raw(found->second.server)) + " (" +
                        name_of(found->second.stage) + "): " + std::move(why));
  learners_.erase(found);
  round_pings_.erase(link);
  keep_for_learners();
  effects.close.push_back(link);
}

bool Leader::is_quorum_with_me(const ServerSet& others) const {
  ServerSet all = others;
  all.insert(config_.me);
  return memberships_.is_quorum(all);
}

void Leader::on_link_accepted(LinkId link, Instant now, Effects& effects) {
  const auto is_stranger = [](const auto& each) { return each.second.stage == Stage::kGreeting; };
  // A new link has not said yet which server it is: anybody can open one, and as often as they like. An
  // honest learner greets at once, so the oldest such link is dropped. Links are numbered in the order in
  // which they come.
  if (std::ranges::count_if(learners_, is_stranger) >= kStrangersMax)
    drop(std::ranges::find_if(learners_, is_stranger)->first, "too many connections are waiting to greet",
         effects);
  LearnerLink learner;
  learner.link = link;
  learner.stage_began = learner.last_heard = learner.expected_since = learner.traffic.since = now;
  learners_.emplace(link, learner);
}

void Leader::on_heard(LinkId link, Instant now) {
  const auto found = learners_.find(link);
  // A stranger has a fixed time for its first packet, however slowly its bytes come.
  if (found != learners_.end() && found->second.stage != Stage::kGreeting) found->second.last_heard = now;
}

void Leader::on_taken(LinkId link, Instant now) {
  const auto found = learners_.find(link);
  if (found != learners_.end() && found->second.is_synchronising()) found->second.last_heard = now;
}

void Leader::on_link_down(LinkId link, Instant now, Effects& effects) {
  learners_.erase(link);
  round_pings_.erase(link);
  keep_for_learners();
  check_confirmation(now, effects);
  check_handover(now);
}

bool Leader::lacks_voters() const {
  if (phase_ != Phase::kDiscovery && phase_ != Phase::kSynchronisation) return false;
  ServerSet linked;
  for (const auto& [link, learner] : learners_) {
    if (learner.voter) linked.insert(learner.server);
  }
  return !is_quorum_with_me(linked);
}

// --- discovery ---

// Not a history that has already begun and in which nothing happened.
bool Leader::begins_history() const {
  return began_empty() && began_with_.current == 0 && began_with_.history_id == 0;
}

void Leader::say_that_history_begins(Effects& effects) const {
  std::string servers = std::to_string(raw(config_.me));
  for (const ServerId server : promised_) servers += ", " + std::to_string(raw(server));
  effects.events.push_back(Event::kHistoryBegins);
  effects.warnings.push_back("A NEW HISTORY BEGINS: servers " + servers +
                             " hold no data, are a quorum, and have heard of no voter that holds any. If "
                             "this ensemble had data, stop "
                             "these servers now and restore it (docs/operating.md, \"Two histories\")");
}

// Chooses an epoch that no member of a quorum has promised to any leader yet.
void Leader::choose_epoch(Instant now, Effects& effects) {
  if (epoch_chosen_) return;
  ServerSet reported;
  for (const auto& [server, accepted] : accepted_epochs_) {
    reported.insert(server);
    epoch_ = std::max(epoch_, accepted + 1);
  }
  if (!memberships_.is_quorum(reported)) return;
  if (epoch_ > kEpochMax) return end("the epochs are exhausted");
  epoch_chosen_ = true;
  phase_began_ = now;
  effects.disk.emplace_back(SaveEpoch{EpochKind::kAccepted, epoch_});
}

void Leader::on_epoch_saved(EpochKind kind, std::uint32_t epoch, Instant now, Effects& effects) {
  if (epoch != epoch_ || over()) return;
  if (kind == EpochKind::kAccepted) {
    epoch_accepted_here_ = true;
    for (auto& [link, learner] : learners_) {
      if (learner.stage == Stage::kWaiting) propose_epoch(learner, now, effects);
    }
    count_epoch_acks(now, effects);
  } else {
    history_current_here_ = true;
    count_new_leader_acks(now, effects);
  }
}

void Leader::count_epoch_acks(Instant now, Effects& effects) {
  if (!epoch_accepted_here_ || epoch_promised_) return;
  if (!is_quorum_with_me(promised_)) return;
  epoch_promised_ = true;
  phase_ = Phase::kSynchronisation;
  phase_began_ = now;
  next_ping_ = now + config_.timing.ping_ms();
  number_first_membership(effects);
  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_, history_id_});
  if (begins_history()) say_that_history_begins(effects);
  std::vector<LinkId> promised;
  for (const auto& [link, learner] : learners_) {
    if (learner.stage == Stage::kPromised) promised.push_back(link);
  }
  for (const LinkId link : promised) synchronise(learners_.at(link), now, effects);
}

// --- synchronisation ---

void Leader::count_new_leader_acks(Instant now, Effects& effects) {
  if (phase_ != Phase::kSynchronisation || !history_current_here_) return;
  ServerSet synced;
  for (const auto& [link, learner] : learners_) {
    if (learner.stage == Stage::kSynced && learner.voter) synced.insert(learner.server);
  }
  if (!is_quorum_with_me(synced)) return;
  phase_ = Phase::kBroadcast;
  phase_began_ = now;
  next_ping_ = now;
  next_check_ = now + config_.timing.tick_ms;
  effects.log.push_back("leading epoch " + std::to_string(epoch_) + " with " + std::to_string(synced.size()) +
                        " synced voters besides this one");
  // Only now may a follower serve: before, the next leader could still truncate what it shows.
  for (auto& [link, learner] : learners_) {
    if (learner.stage == Stage::kSynced) welcome(learner, now, effects);
  }
  complete_membership(now, effects);
}

// --- time ---

void Leader::on_time(Instant now, Effects& effects) {
  if (over()) return;
  if (phase_ == Phase::kHandingOver) return check_handover(now);
  if (phase_ == Phase::kDiscovery) {
    if (now >= next_time()) end("no quorum of followers connected within initLimit");
    return;
  }
  if (phase_ == Phase::kSynchronisation && now >= synchronised_until())
    return end("no quorum was synced within initLimit");
  if (now >= next_ping_) {
    next_ping_ = now + config_.timing.ping_ms();
    reassure_synchronising(effects);
    ping_all(now, effects);
    join_confirmation();
  }
  if (phase_ == Phase::kBroadcast && now >= next_check_) {
    next_check_ = now + config_.timing.tick_ms;
    check_liveness(now, effects);
    check_kept_history(effects);
  }
}

// Progress counts: a voter that reads our state, however slowly, may still complete the quorum.
Instant Leader::synchronised_until() const {
  Instant moved = phase_began_;
  for (const auto& [link, learner] : learners_) {
    if (learner.voter && learner.is_synchronising()) moved = std::max(moved, learner.last_heard);
  }
  return moved + config_.timing.init_ms();
}

// Drops the learner whose state is the oldest: it keeps the most in memory.
void Leader::check_kept_history(Effects& effects) {
  if (history_.window_bytes() <= config_.kept_bytes_max) return;
  const LearnerLink* slowest = nullptr;
  for (const auto& [link, learner] : learners_) {
    if (learner.stage == Stage::kSending && (!slowest || learner.sent < slowest->sent)) slowest = &learner;
  }
  if (slowest)
    drop(slowest->link, "it receives our state or our log more slowly than new transactions arrive", effects);
}

void Leader::check_liveness(Instant now, Effects& effects) {
  std::vector<std::pair<LinkId, std::string>> lost;
  ServerSet alive;
  for (auto& [link, learner] : learners_) {
    const bool active = learner.stage == Stage::kActive;
    const std::int64_t patience = active ? config_.timing.sync_ms() : config_.timing.init_ms();
    if (learner.observer || learner.acked >= learner.expected) {
      learner.expected = history_.last();
      learner.expected_since = now;
    }
    if (now - learner.last_heard >= patience) {
      lost.emplace_back(link, "no packet from it for " + std::to_string(patience) + " ms");
    } else if (active && now - learner.expected_since >= patience) {
      lost.emplace_back(link, "it does not acknowledge proposals");
    } else if (learner.voter && learner.stage >= Stage::kSynced) {
      alive.insert(learner.server);
    }
  }
  for (auto& [link, why] : lost) drop(link, std::move(why), effects);
  if (!is_quorum_with_me(alive)) end("no packets from a quorum of followers within syncLimit");
}

Instant Leader::next_time() const {
  if (phase_ == Phase::kDiscovery) return phase_began_ + config_.timing.init_ms();
  if (phase_ == Phase::kHandingOver) return phase_began_ + config_.timing.tick_ms;
  return std::min(next_ping_, phase_ == Phase::kBroadcast ? next_check_ : synchronised_until());
}

void Leader::reset_observer_traffic() {
  for (auto& [link, learner] : learners_) {
    if (learner.observer) learner.traffic = {.since = learner.traffic.since};
  }
}

}  // namespace drover::zab
