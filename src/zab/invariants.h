// SPDX-License-Identifier: Apache-2.0
//
// Invariants between the fields of a server, and between servers, all in one place. They run after every step
// of a simulated ensemble.
//
// An ENSURE checks something that one function relies on. Invariants that involve several fields or several
// servers belong here. So do Zab's promises, in Zab's own words (one leader for each epoch, one order of what
// is committed, nothing committed is lost), independent of the code that keeps them. Quorums are therefore
// counted again here: a mistake in counting them must not hide itself.
//
// The checks only read. They return a broken invariant as text instead of aborting, because the caller that
// runs the ensemble can better show what led to it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "base/ids.h"
#include "zab/peer.h"

namespace drover::zab {

class Invariants {
 public:
  // The first invariant that this server alone breaks; empty: none.
  static std::string broken_in(const Peer& peer);

  // The same after an input to `moved`, plus the invariants between it and `peers`: all running servers,
  // itself included. Remembers who led and what was committed, so it must see every step.
  std::string after_step(const Peer& moved, std::span<const Peer* const> peers);

  // Defined by tests, to break private fields.
  class Breaker;

 private:
  class Check;
  // A committed transaction: its hash, and the zxid right after it.
  struct Agreed {
    std::optional<std::uint64_t> hash;
    std::optional<Zxid> next;
  };
  // How far the commits of an active server have been checked.
  struct Seen {
    Zxid committed{};
  };

  // invariants.cc
  static void look_at(const Peer& peer, Check& check);
  static void look_at_roles(const Peer& peer, Check& check);
  static void look_at_history(const History& history, Check& check);
  static void look_at_leader(const Peer& peer, const Leader& leader, Check& check);
  static void look_at_epoch(const Peer& peer, const Leader& leader, Check& check);
  static void look_at_quorums(const Leader& leader, Check& check);
  static void look_at_link(const Leader& leader, const LearnerLink& link, Check& check);
  static void look_at_learner(const Peer& peer, const Learner& learner, Check& check);
  static void look_at_sync(const Peer& peer, const Learner& learner, Check& check);

  // invariants_ensemble.cc
  void look_at_reign(const Peer& moved, Check& check);
  void look_at_commits(const Peer& moved, Check& check);
  void agree(Zxid before, Zxid zxid, std::string_view entry, Check& check);
  static void look_at_acks(const Leader& leader, const Peer& other, Check& check);
  static bool is_on_quorum(const Leader& leader, Zxid zxid);
  static bool is_quorum(const Membership& membership, const ServerSet& servers);
  static bool is_quorum(const Memberships& memberships, const ServerSet& servers);
  void look_at_memberships(const Peer& moved, Check& check);

  std::map<std::uint32_t, ServerId> reigns_;  // epoch to its established leader
  std::unordered_map<std::int64_t, Agreed> order_;
  std::map<std::int64_t, Membership> memberships_;  // by version
  Zxid last_agreed_{};
  std::map<ServerId, Seen> serving_;
};

}  // namespace drover::zab
