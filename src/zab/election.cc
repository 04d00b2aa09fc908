// SPDX-License-Identifier: Apache-2.0
//
// When notifications are sent, and when an election is over. Votes are counted in election_votes.cc.
#include "zab/election.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ensure.h"
#include "zab/membership_text.h"

namespace drover::zab {
namespace {

using wire::Notification;
using wire::PeerState;

// Means "no server" and "no history" where a server without a vote must name a candidate. Loses against every
// vote. Java uses this value, and it is seen on the wire.
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

constexpr std::int64_t kAskMaxMs = 1000;

constexpr std::int64_t kRoundMax = std::int64_t{1} << 62;

// The round of a leader that no election has chosen: the leader before it did.
constexpr std::int64_t kAppointed = -1;

// Servers that have a leader may be anywhere, because several of them agree on it.
bool is_plausible(const Notification& n, std::int64_t ours) {
  if (n.round > kRoundMax) return false;
  if (n.state != PeerState::kLooking) return n.round >= kAppointed;
  return n.round >= 0 && n.round - ours <= kRoundsApartMax;
}

}  // namespace

Election::Election(const ElectionConfig& config, Memberships memberships)
    : config_(config), memberships_(std::move(memberships)) {}

void Election::start(Zxid zxid, std::int64_t current_epoch, Instant now,
                     std::vector<NotificationSend>& sends) {
  looking_ = true;
  state_ = PeerState::kLooking;
  rounds_.clear();
  enter_round(round_ + 1);
  settled_.clear();
  files_of_leaders_.clear();
  heard_.clear();
  abstaining_.clear();
  initial_.leader = memberships_.committed().is_voter(config_.me) ? config_.me : ServerId{kNone};
  own_zxid_ = zxid;
  // No server elects a candidate with zxid -1.
  initial_.zxid = config_.observer ? Zxid{kNone} : may_lead_ ? zxid : kUnknownHistory;
  initial_.peer_epoch = config_.observer ? kNone : current_epoch;
  propose(initial_, now, sends);
  consider(now);
}

void Election::on_notification(ServerId from, const Notification& n, Instant now,
                               std::vector<NotificationSend>& sends) {
  if (from == config_.me || !is_plausible(n, round_)) return;
  if (!looking_ && state_ == PeerState::kLooking) return;  // Not started: there is nothing to say yet.
  if (!memberships_.takes_part(from)) return answer_stranger(from, n, sends);
  const bool asks = n.state == PeerState::kLooking;
  if (!looking_) {
    if (asks) answer(from, sends);
    if (state_ == PeerState::kLeading) on_rival(from, n);
    return;
  }
  heard_.insert(from);
  // The sender is in an earlier election and must learn of this one. A server without a vote need not tell
  // anybody: its answer would only be answered, and that answer too, and so on.
  if (asks && n.round < round_ && memberships_.takes_part(config_.me)) answer(from, sends);
  if (asks && raw(n.leader) < 0) return on_abstention(from, n, now, sends);
  if (!memberships_.takes_part(n.leader)) return;
  switch (n.state) {
    case PeerState::kLooking: on_candidate(from, n, now, sends); break;
    case PeerState::kFollowing:
    case PeerState::kLeading: on_settled(from, n, now); break;
    case PeerState::kObserving: break;
  }
}

void Election::on_time(Instant now, std::vector<NotificationSend>& sends) {
  if (!looking_) return;
  consider(now);
  if (!looking_ || now < repeat_at_) return;
  // Voters tell each other about changes. A server that has no vote, or none for the others' leader, learns
  // only by asking.
  const bool asks = !has_vote() || !may_lead_ || refuses_anybody();
  const std::int64_t longest =
      asks ? std::min(config_.notification_max_ms, kAskMaxMs) : config_.notification_max_ms;
  interval_ms_ = std::max<std::int64_t>(1, std::min(2 * interval_ms_, longest));
  tell_voters(now, sends);
}

std::optional<Instant> Election::next_time() const {
  if (!looking_) return std::nullopt;
  return quorum_since_ ? std::min(repeat_at_, decision_time()) : repeat_at_;
}

void Election::set_reachable(ServerId server, bool reachable) {
  if (reachable) {
    unreachable_.erase(server);
  } else if (memberships_.takes_part(server)) {
    unreachable_.insert(server);
  }
}

void Election::set_memberships(const Memberships& memberships) {
  memberships_ = memberships;
  std::erase_if(unreachable_, [&](ServerId server) { return !memberships_.takes_part(server); });
}

// --- sending ---

// This server's current notification. Once settled, it carries the round of its vote: servers that look
// compare it with the rounds of the other settled servers.
Notification Election::current() const {
  const Vote& vote = looking_ ? proposal_ : vote_;
  Notification n;
  n.state = state_;
  n.leader = vote.leader;
  n.zxid = vote.zxid;
  n.round = vote.round;
  n.peer_epoch = vote.peer_epoch;
  n.config = to_text(memberships_.committed());
  if (memberships_.proposed()) n.proposed = to_text(*memberships_.proposed());
  return n;
}

void Election::tell_voters(Instant now, std::vector<NotificationSend>& sends) {
  const Notification n = current();
  for (const ServerId voter : memberships_.participants()) {
    if (voter != config_.me) sends.push_back({voter, n});
  }
  repeat_at_ = now + interval_ms_;
}

void Election::ask_voters(std::vector<NotificationSend>& sends) const {
  Notification n = current();
  n.state = PeerState::kLooking;
  for (const ServerId voter : memberships_.voters()) {
    if (voter != config_.me) sends.push_back({voter, n});
  }
}

void Election::answer(ServerId to, std::vector<NotificationSend>& sends) const {
  sends.push_back({to, current()});
}

// Observers, and servers that are no members (yet), learn from us who leads. Only LOOKING notifications are
// answered; while looking, only those to which our round is news. Otherwise two servers that each take the
// other for a stranger would answer each other's answers forever.
void Election::answer_stranger(ServerId from, const Notification& n,
                               std::vector<NotificationSend>& sends) const {
  if (n.state != PeerState::kLooking) return;
  const bool observer = memberships_.committed().observers().contains(from);
  if (looking_ && !(n.round < round_ || (observer && n.round == round_))) return;
  answer(from, sends);
}

// --- deciding ---

Instant Election::decision_time() const {
  ENSURE(quorum_since_.has_value(), "an election is decided by a quorum");
  return everybody_agrees() ? *quorum_since_ : *quorum_since_ + config_.finalize_ms;
}

void Election::consider(Instant now) {
  const bool electable =
      proposal_.leader == config_.me ? can_lead() : memberships_.takes_part(proposal_.leader);
  if (!electable || !agreed(received_, {proposal_, PeerState::kLooking, 0})) {
    quorum_since_.reset();
    return;
  }
  if (!quorum_since_) quorum_since_ = now;
  if (now >= decision_time()) decide(proposal_);
}

void Election::decide(const Vote& vote) {
  ENSURE(looking_, "an election is decided once");
  ENSURE(memberships_.takes_part(vote.leader), "a leader is a voter");
  ENSURE(vote.leader != config_.me || can_lead(), "a leader has a history and a weight");
  joined_ = false;
  vote_ = vote;
  if (vote.round >= 0) round_ = vote.round;
  looking_ = false;
  quorum_since_.reset();
  if (vote.leader == config_.me) {
    state_ = PeerState::kLeading;
  } else {
    state_ = config_.observer ? PeerState::kObserving : PeerState::kFollowing;
  }
}

void Election::join(const Vote& vote) {
  decide(vote);
  joined_ = true;
}

void Election::appoint(ServerId leader, Zxid reconfiguration) {
  looking_ = false;
  joined_ = true;
  quorum_since_.reset();
  settled_.clear();
  vote_ = {.leader = leader, .zxid = reconfiguration, .round = kAppointed, .peer_epoch = -1};
}

}  // namespace drover::zab
