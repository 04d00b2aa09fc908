// SPDX-License-Identifier: Apache-2.0
//
// The membership in force, and the one that is about to replace it.
//
// A reconfiguration is a transaction. From the moment a server logs it until the server knows that it is
// committed, the server has two memberships, and only what is a quorum of both is a quorum for it. This is
// what makes the change safe:
//
// - A reconfiguration is committed by a quorum of the old members and a quorum of the new ones. So every
//   quorum of the old members includes a server that has it in its log.
// - A leader that lacks it cannot be established by the old members: discovery finds the longer history. A
//   leader that has it needs a quorum of the new members too, and so meets whatever they decided since.
// - There is one at a time. A log that continues with a second one proves that the first is committed.
//
// Every change gives the disk an order, before the order that logs the transaction. So no server forgets
// a membership that it has acknowledged.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "zab/effects.h"
#include "zab/membership.h"

namespace drover::zab {

class Memberships {
 public:
  // Implicit: most servers have one membership for years.
  Memberships(Membership committed, std::optional<Membership> proposed = {});  // NOLINT(*-explicit-*)

  const Membership& committed() const { return committed_; }
  // Logged, or announced by a leader, but not known to be committed. Newer than committed().
  const std::optional<Membership>& proposed() const { return proposed_; }
  // In the log of another server, and newer than what we have. It counts for no quorum and is not stored.
  // But a leader may need our vote in it, or be one of its members: as long as we look for a leader, we vote
  // with it and for it.
  const std::optional<Membership>& heard() const { return heard_; }
  const Membership& last_seen() const { return proposed_ ? *proposed_ : committed_; }
  std::int64_t version() const { return committed_.version(); }

  // The questions about servers mean either membership, those about quorums both.
  bool is_voter(ServerId server) const { return voters_.contains(server); }
  bool is_member(ServerId server) const;
  // The voters, and those of the membership that we have heard of.
  bool takes_part(ServerId server) const { return participants_.contains(server); }
  const ServerSet& participants() const { return participants_; }
  const ServerSet& voters() const { return voters_; }
  bool is_quorum(const ServerSet& servers) const;
  bool is_quorum_of_either(const ServerSet& servers) const;
  // Is it enough for this transaction? Those before the reconfiguration need only the old members.
  bool is_quorum_for(Zxid zxid, const ServerSet& servers) const;
  // 0: it leads in none of them.
  std::int64_t weight_of(ServerId server) const;
  // How to reach it; null: unknown.
  const PeerSpec* find(ServerId server) const;

  // --- changes. Each returns whether it changed anything ---

  // A reconfiguration goes into our log.
  bool propose(Membership next, Effects& effects);
  // Our log is now the leader's, and so is what we know of memberships.
  bool take_from_leader(Membership leaders, Effects& effects);
  // Transactions after `last` are cut off.
  bool withdraw_after(Zxid last, Effects& effects);
  // The proposed membership is committed.
  bool commit(Effects& effects);
  // Another server says that this one is committed.
  bool adopt(Membership newer, Effects& effects);

  // A server that looks for a leader has this one in its log.
  bool hear(Membership newer);
  // We have a leader.
  void forget_heard();

  // Grows with each change.
  std::uint64_t changes() const { return changes_; }

 private:
  void changed();
  void order_committed(Effects& effects) const;
  void order_proposed(Effects& effects) const;

  Membership committed_;
  std::optional<Membership> proposed_;
  std::optional<Membership> heard_;
  ServerSet voters_;        // of both
  ServerSet participants_;  // of all three
  std::uint64_t changes_ = 0;
};

}  // namespace drover::zab
