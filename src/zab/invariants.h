// SPDX-License-Identifier: Apache-2.0
//
// What must always hold between the fields of a server, and between servers: all of it in one place, and run
// after every step of a simulated ensemble.
//
// An ENSURE stands where one function relies on something. What only several fields, or several servers,
// make true together belongs here; and what Zab promises is said in its own words (one leader for each epoch,
// one order of what is committed, nothing committed is lost), whatever code is meant to keep the promise. So
// quorums are counted anew: a mistake in counting them must not hide itself.
//
// Looks only. A sentence that is not true is told as text, because whoever runs the ensemble knows better
// than an abort how to show what led to it.
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
  // The first sentence that is not true of this server by itself; empty: all are.
  static std::string broken_in(const Peer& peer);

  // The same after an input to `moved`, and of what holds between it and `peers`: all servers that run,
  // itself among them. Remembers who led and what was committed, so it wants to see every step.
  std::string after_step(const Peer& moved, std::span<const Peer* const> peers);

  // Tests define it, to break what is private.
  class Breaker;

 private:
  class Check;
  // A committed transaction: what it was, and which one came right behind it.
  struct Agreed {
    std::optional<std::uint64_t> hash;
    std::optional<Zxid> next;
  };
  // How far a server that serves was looked at.
  struct Seen {
    Zxid committed{};
  };

  // invariants.cc
  static void look_at(const Peer& peer, Check& check);
  static void look_at_roles(const Peer& peer, Check& check);
  static void look_at_history(const History& history, Check& check);
  static void look_at_leader(const Peer& peer, const Leader& leader, Check& check);
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

  std::map<std::uint32_t, ServerId> reigns_;  // epoch to its established leader
  std::unordered_map<std::int64_t, Agreed> order_;
  Zxid last_agreed_{};
  std::map<ServerId, Seen> serving_;
};

}  // namespace drover::zab
