// SPDX-License-Identifier: Apache-2.0
//
// Invariants between servers: what Zab promises.
#include <algorithm>

#include "base/hash.h"
#include "zab/invariants.h"
#include "zab/invariants_check.h"
#include "zab/reconfig_entry.h"

namespace drover::zab {
namespace {

constexpr HashKey kHashKey{0x6a09'e667'f3bc'c908, 0};

}  // namespace

std::string Invariants::after_step(const Peer& moved, std::span<const Peer* const> peers) {
  Check check(moved);
  look_at(moved, check);
  look_at_reign(moved, check);
  look_at_commits(moved, check);
  look_at_memberships(moved, check);
  for (const Peer* other : peers) {
    if (other == &moved) continue;
    if (moved.leader_) look_at_acks(*moved.leader_, *other, check);
    if (other->leader_) look_at_acks(*other->leader_, moved, check);
  }
  return check.text();
}

// --- who leads ---

void Invariants::look_at_reign(const Peer& moved, Check& check) {
  if (!moved.active()) return;
  if (moved.learner_) {
    const auto found = reigns_.find(moved.learner_->epoch());
    check.expect(found != reigns_.end() && found->second == moved.learner_->leader(),
                 "a serving learner follows an established leader");
    return;
  }
  if (moved.config_.standalone)  // Every start is a new reign, in the same epoch.
    return check.expect(moved.history_.last() >= last_agreed_, "a new leader has all committed transactions");
  const bool newest = reigns_.empty() || moved.leader_->epoch() > reigns_.rbegin()->first;
  const auto [reign, is_new] = reigns_.try_emplace(moved.leader_->epoch(), moved.config_.me);
  check.expect(reign->second == moved.config_.me, "an epoch has one leader");
  if (!is_new || !newest) return;  // A leader that hears late of its quorum is behind, and harmless.
  const History& history = moved.history_;
  const bool has_all = history.window_begin() > last_agreed_ || history.contains(last_agreed_);
  check.expect(history.last() >= last_agreed_ && has_all, "a new leader has all committed transactions");
}

// --- what is committed ---

void Invariants::look_at_commits(const Peer& moved, Check& check) {
  if (!moved.active()) {
    serving_.erase(moved.config_.me);
    return;
  }
  const History& history = moved.history_;
  const auto [found, is_new] = serving_.try_emplace(moved.config_.me);
  Zxid& seen = found->second.committed;
  if (is_new) seen = history.window_begin();
  if (!is_new && seen == history.committed()) return;
  check.expect(seen <= history.committed(), "committed transactions stay committed");
  // A leader's initial history was acknowledged with NEWLEADER; later commits are acknowledged one by one.
  if (moved.leader_ && !is_new)
    check.expect(is_on_quorum(*moved.leader_, history.committed()),
                 "committed transactions are on a quorum of disks");
  Zxid before = std::max(seen, history.window_begin());
  history.for_each(before, history.committed(), [&](Zxid zxid, std::string_view entry) {
    agree(before, zxid, entry, check);
    check.expect(!moved.config_.reconfig_enabled || !is_reconfig(entry) ||
                     moved.memberships_.last_seen().version() >= raw(zxid),
                 "a server knows the memberships in its log");
    before = zxid;
  });
  seen = history.committed();
}

// One order: every transaction is the same on every server, and so is the one after it.
void Invariants::agree(Zxid before, Zxid zxid, std::string_view entry, Check& check) {
  std::optional<Zxid>& next = order_[raw(before)].next;
  check.expect(!next || *next == zxid, "transactions are committed in one order");
  next = zxid;
  std::optional<std::uint64_t>& hash = order_[raw(zxid)].hash;
  const std::uint64_t here = hash_bytes(entry, kHashKey);
  check.expect(!hash || *hash == here, "a zxid names one transaction");
  hash = here;
  last_agreed_ = std::max(last_agreed_, zxid);
}

bool Invariants::is_on_quorum(const Leader& leader, Zxid zxid) {
  ServerSet have;
  if (leader.history_.durable() >= zxid) have.insert(leader.config_.me);
  for (const auto& [id, link] : leader.learners_) {
    if (link.stage >= LearnerLink::Stage::kSynced && link.acked >= zxid) have.insert(link.server);
  }
  const Memberships& members = leader.memberships_;
  const bool joint = members.proposed() && raw(zxid) >= members.proposed()->version();
  return is_quorum(members.committed(), have) && (!joint || is_quorum(*members.proposed(), have));
}

bool Invariants::is_quorum(const Memberships& memberships, const ServerSet& servers) {
  return is_quorum(memberships.committed(), servers) &&
         (!memberships.proposed() || is_quorum(*memberships.proposed(), servers));
}

bool Invariants::is_quorum(const Membership& membership, const ServerSet& servers) {
  if (!membership.groups().empty()) return membership.is_quorum(servers);
  const auto votes =
      std::ranges::count_if(membership.voters(), [&](ServerId voter) { return servers.contains(voter); });
  return 2 * static_cast<std::size_t>(votes) > membership.voters().size();
}

// --- who takes part ---

void Invariants::look_at_memberships(const Peer& moved, Check& check) {
  const Memberships& members = moved.memberships_;
  check.expect(!members.proposed() || members.proposed()->version() > members.version(),
               "a proposed membership is newer than the one in force");
  if (members.version() == 0) return;
  const auto [known, is_new] = memberships_.try_emplace(members.version(), members.committed());
  check.expect(is_new || known->second == members.committed(), "a version names one membership");
}

// --- what is acknowledged ---

// A link of an earlier run says nothing about a server that has restarted: its next greeting ends that link.
void Invariants::look_at_acks(const Leader& leader, const Peer& other, Check& check) {
  const Learner* learner = other.learner_.get();
  if (!learner || learner->leader() != leader.config_.me || learner->epoch() != leader.epoch_) return;
  if (learner->phase() < Learner::Phase::kSynced) return;
  for (const auto& [id, link] : leader.learners_) {
    if (link.server != other.config_.me || link.stage < LearnerLink::Stage::kSynced) continue;
    // Only voters' acknowledgements count, and only their links are checked: an intruder may lie in the name
    // of an observer or of a server that was removed.
    check.expect(!link.voter || link.acked <= other.history_.durable(),
                 "transactions acknowledged to a leader are on disk");
    check.expect(other.history_.committed() <= leader.history_.committed(),
                 "a learner commits nothing before its leader");
  }
}

}  // namespace drover::zab
