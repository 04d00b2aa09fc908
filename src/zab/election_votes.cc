// SPDX-License-Identifier: Apache-2.0
//
// How an election counts votes: which vote is better, which votes are the same, and whose word is enough.
#include <algorithm>
#include <tuple>
#include <utility>

#include "zab/election.h"
#include "zab/membership_text.h"

namespace drover::zab {
namespace {

using wire::Notification;
using wire::PeerState;

Vote vote_in(const Notification& n) { return {n.leader, n.zxid, n.round, n.peer_epoch}; }

}  // namespace

// The sender looks for a leader too.
void Election::on_candidate(ServerId from, const Notification& n, Instant now,
                            std::vector<NotificationSend>& sends) {
  if (n.zxid == kUnknownHistory) {
    abstaining_.insert(from);
    // We vote for it by mistake: somebody spoke in its name, or it has lost its disk since.
    if (proposal_.leader == from && own_zxid_ != kUnknownHistory) {
      enter_round(std::max(round_, n.round) + 1);
      propose(last_candidate(), now, sends);
    }
    return consider(now);  // Perhaps it was the last one that we waited for.
  }
  abstaining_.erase(from);
  settled_.erase(from);
  if (own_zxid_ == kUnknownHistory) return;
  const Vote vote = vote_in(n);
  if (round_ - n.round > kRoundsApartMax) {
    // A false vote took us to a round where no other server is.
    enter_round(n.round);
    propose(initial_, now, sends);
  }
  if (n.round < round_) {
    // Other servers ignore the round of a server that may not lead (its zxid is -1). They follow it there
    // if it votes for one of them.
    if (!may_lead_ && proposal_.leader == config_.me && is_acceptable(vote)) propose(vote, now, sends);
    return;
  }
  if (n.round > round_) {
    // We are late: the votes that we counted belong to an election that is over.
    enter_round(n.round);
    propose(beats(vote, initial_) && is_acceptable(vote) ? vote : last_candidate(), now, sends);
  } else if (beats(vote, proposal_) && is_acceptable(vote)) {
    propose(vote, now, sends);
  } else if (raw(proposal_.leader) < 0) {
    propose(last_candidate(), now, sends);
  }
  received_[from] = {vote, PeerState::kLooking, 0};
  consider(now);
}

// The sender has a vote, but does not stand for election and knows of no candidate. Either it is in a later
// round and waits there for us, or it stood before it learned of a later membership, and we still vote for
// it.
void Election::on_abstention(ServerId from, const Notification& n, Instant now,
                             std::vector<NotificationSend>& sends) {
  const bool withdraws = proposal_.leader == from && n.round >= round_;
  if ((n.round <= round_ && !withdraws) || own_zxid_ == kUnknownHistory) return;
  enter_round(withdraws ? n.round + 1 : n.round);
  propose(last_candidate(), now, sends);
  consider(now);
}

// The sender follows or leads, so perhaps there is a leader already. Its word alone is not enough: a quorum
// must follow that leader, and the leader itself must say so. Otherwise servers would elect a leader that has
// just crashed, over and over, on the word of servers that have not noticed yet.
void Election::on_settled(ServerId from, const Notification& n, Instant now) {
  const Vote vote = vote_in(n);
  if (vote.leader == config_.me && !can_lead()) return;
  const bool refused = refuses(vote.leader);
  if (refused && from == vote.leader && !has_led_long_enough(from, n, now)) {
    settled_.erase(from);
    return;
  }
  const Received word{vote, n.state, n.version};
  note_files_of(from, n);
  if (n.round == round_ && !refused) {
    // This very election ended without us, so votes given while looking count too. The version is left out,
    // so that the epoch of settled votes does not matter: within one round they mean one election, though the
    // leader's new epoch may not have reached all of them. (As Java does.)
    received_[from] = {vote, n.state, 0};
    // It also does not matter that we wanted another leader: by following we join the quorum. Otherwise a
    // candidate that comes up at this moment could split the voters between two leaders, neither of which has
    // enough.
    if (agreed(received_, word, may_support(vote)) && leader_confirmed(received_, vote)) return join(vote);
  }
  settled_[from] = word;
  if (agreed(settled_, word) && leader_confirmed(settled_, vote)) return join(vote);
  if (vote.leader == config_.me && is_awaited()) join(vote);
}

// A server that votes only in the proposed membership does not stand for election, as in Java: not all
// servers know it. But if no other server has as much history, no other server can lead.
Vote Election::last_candidate() const {
  if (raw(initial_.leader) >= 0 || !can_lead()) return initial_;
  Vote own = initial_;
  own.leader = config_.me;
  return own;
}

void Election::enter_round(std::int64_t round) {
  constexpr std::size_t kRemembered = 16;
  round_ = round;
  if (rounds_.size() < kRemembered) rounds_.insert(round);
  received_.clear();
}

// We were elected in a round that we have left since, because some voter began a later one. The others follow
// us, and would wait until they give up. Only rounds of this election count: servers that have not noticed
// yet that we restarted, or lost our reign, speak of an earlier one.
bool Election::is_awaited() const {
  ServerSet supporters{config_.me};
  for (const auto& [server, word] : settled_) {
    if (word.vote.leader == config_.me && rounds_.contains(word.vote.round)) supporters.insert(server);
  }
  return memberships_.is_quorum(supporters);
}

// A notification to a leader. Only the newest one of each server counts.
void Election::on_rival(ServerId from, const Notification& n) {
  const bool settled = n.state == PeerState::kFollowing || n.state == PeerState::kLeading;
  if (settled && memberships_.is_voter(n.leader)) {
    settled_[from] = {vote_in(n), n.state, n.version};
    note_files_of(from, n);
  } else {
    settled_.erase(from);
  }
}

std::optional<ServerId> Election::rival() const {
  for (const auto& [server, word] : settled_) {
    const ServerId leader = word.vote.leader;
    if (leader != config_.me && agreed(settled_, word) && leader_confirmed(settled_, word.vote))
      return leader;
  }
  return std::nullopt;
}

// Makes `vote` ours and sends it. A new vote is repeated soon, in case it is lost, and then more and more
// rarely.
void Election::propose(const Vote& vote, Instant now, std::vector<NotificationSend>& sends) {
  proposal_ = vote;
  proposal_.round = round_;
  quorum_since_.reset();
  if (has_vote()) received_[config_.me] = {proposal_, PeerState::kLooking, 0};
  interval_ms_ = std::max<std::int64_t>(1, config_.notification_min_ms);
  tell_voters(now, sends);
}

// Later epoch, then longer history, then larger id.
bool Election::beats(const Vote& vote, const Vote& other) const {
  if (memberships_.weight_of(vote.leader) == 0 || refuses(vote.leader)) return false;
  return std::tuple(vote.peer_epoch, vote.zxid, vote.leader) >
         std::tuple(other.peer_epoch, other.zxid, other.leader);
}

bool Election::is_better(const Notification& n) const {
  if (memberships_.weight_of(n.leader) == 0 || refuses(n.leader)) return false;
  return std::tuple(n.peer_epoch, n.zxid) > std::tuple(vote_.peer_epoch, vote_.zxid);
}

// Servers that are settled on one leader may remember its zxid and round differently (ZOOKEEPER-1805), but an
// epoch has one leader. Servers before version 1 did not learn the new epoch either (ZOOKEEPER-1732).
bool Election::same(const Received& a, const Received& b) {
  if (a.state == PeerState::kLooking || b.state == PeerState::kLooking) return a.vote == b.vote;
  if (a.vote.leader != b.vote.leader) return false;
  return (a.version > 0) != (b.version > 0) || a.vote.peer_epoch == b.vote.peer_epoch;
}

bool Election::agreed(const Votes& votes, const Received& on, bool with_me) const {
  ServerSet supporters;
  if (with_me) supporters.insert(config_.me);
  for (const auto& [server, received] : votes) {
    if (same(received, on)) supporters.insert(server);
  }
  return on.state == PeerState::kLooking ? memberships_.is_quorum(supporters)
                                         : is_enough_for(on.vote.leader, supporters);
}

// A leader that exists has proved itself to its own quorum, whichever membership that is. Our proposed one
// may never be committed, and the one in force may be long gone. Without reconfig, members are added by
// changing the files of one server after the other, and the leader's file may be older or newer than ours.
bool Election::is_enough_for(ServerId leader, const ServerSet& followers) const {
  if (memberships_.is_quorum_of_either(followers)) return true;
  const auto files = files_of_leaders_.find(leader);
  return files != files_of_leaders_.end() && files->second.is_quorum(followers);
}

// Version 0: nothing but files has ever named the members, here and there.
void Election::note_files_of(ServerId leader, const Notification& n) {
  if (n.state != PeerState::kLeading || leader != n.leader || memberships_.version() != 0) return;
  files_of_leaders_.erase(leader);
  if (n.config.empty() || n.config == to_text(memberships_.committed())) return;
  auto members = parse_membership(n.config, {.multi_address = true});
  if (members && members->version() == 0 && members->is_voter(leader))
    files_of_leaders_.emplace(leader, std::move(*members));
}

// A reign that has only begun proves nothing: its followers have not compared anything yet.
bool Election::has_led_long_enough(ServerId from, const Notification& n, Instant now) {
  Refusal& refusal = refused_.at(from);
  const bool same = refusal.since && refusal.round == n.round && refusal.epoch == n.peer_epoch;
  if (!same || n.state != PeerState::kLeading) {
    refusal = {.wait_ms = refusal.wait_ms, .round = n.round, .epoch = n.peer_epoch, .since = now};
    return false;
  }
  return now - *refusal.since >= refusal.wait_ms;
}

// A server that may not lead gives its vote to a candidate that has all of its history; no other can lead it.
bool Election::is_acceptable(const Vote& vote) const {
  if (refuses(vote.leader) || memberships_.weight_of(vote.leader) == 0) return false;
  return may_lead_ || std::tuple(vote.peer_epoch, vote.zxid) >= std::tuple(initial_.peer_epoch, own_zxid_);
}

// We have a vote to give, and no more history than the leader; otherwise it would refuse us.
bool Election::may_support(const Vote& vote) const {
  return has_vote() && !refuses(vote.leader) &&
         std::tuple(initial_.peer_epoch, own_zxid_) <= std::tuple(vote.peer_epoch, vote.zxid);
}

bool Election::leader_confirmed(const Votes& votes, const Vote& vote) const {
  // The others say that we lead: true only if they mean the election that we are in.
  if (vote.leader == config_.me) return vote.round == round_;
  const auto leader = votes.find(vote.leader);
  return leader != votes.end() && leader->second.state == PeerState::kLeading;
}

// True if no voter is left that could name a better candidate than proposal_. Voters that cannot lead or
// cannot be reached need not be asked.
bool Election::everybody_agrees() const {
  const Received ours{proposal_, PeerState::kLooking, 0};
  return std::ranges::all_of(memberships_.voters(), [&](ServerId voter) {
    if (voter == config_.me || abstaining_.contains(voter) || memberships_.weight_of(voter) == 0) return true;
    const auto received = received_.find(voter);
    if (received != received_.end()) return same(received->second, ours);
    return unreachable_.contains(voter) && !heard_.contains(voter);
  });
}

bool Election::has_vote() const {
  return !config_.observer && memberships_.takes_part(config_.me) && own_zxid_ != kUnknownHistory;
}

bool Election::can_lead() const {
  return has_vote() && may_lead_ && memberships_.is_voter(config_.me) &&
         memberships_.weight_of(config_.me) != 0;
}

bool Election::leader_seems_empty() const {
  return raw(vote_.zxid) == 0 && (!joined_ || vote_.peer_epoch == 0);
}

}  // namespace drover::zab
