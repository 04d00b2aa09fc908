// SPDX-License-Identifier: Apache-2.0
//
// Who leads next: ZooKeeper's FastLeaderElection as inputs and outputs.
//
// Every server proposes itself, learns of better candidates (later epoch, then longer history, then larger
// id), and repeats the best it knows of until a quorum says the same. The result is only a good guess: that
// a leader really has every committed transaction is made sure of afterwards, when it counts epochs
// (zab/leader). So an election may be fast or wrong, but never unsafe.
//
// A server that does not know its own history (damaged or wiped disk: `zxid` -1) has no vote, here and in
// Java alike: it neither counts nor is counted, and waits until the others have a leader that it can follow.
//
// Owned by Peer. Time comes in; notifications go out through `sends`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "wire/quorum.h"
#include "zab/membership.h"

namespace drover::zab {

// What a server without a vote says of its history.
inline constexpr Zxid kUnknownHistory{-1};

struct Vote {
  ServerId leader{};
  Zxid zxid{};
  std::int64_t round = 0;       // of the election in which it was given
  std::int64_t peer_epoch = 0;  // the leader's current epoch
  friend bool operator==(const Vote&, const Vote&) = default;
};

struct ElectionConfig {
  ServerId me{};
  bool observer = false;  // learns who leads, has no vote
  std::int64_t notification_min_ms = 200;
  std::int64_t notification_max_ms = 60'000;
  // How long better candidates may still speak up once a quorum agrees. Not waited for when every voter
  // that can be reached has said the same.
  std::int64_t finalize_ms = 200;
};

// A notification for one server. Links keep only the newest for each.
struct NotificationSend {
  ServerId to{};
  wire::Notification notification;
};

class Election {
 public:
  Election(const ElectionConfig& config, const Membership& membership);

  // Before start(): false keeps this server from being elected. It still votes for others.
  void set_may_lead(bool may_lead) { may_lead_ = may_lead; }
  // Begins to look. `zxid` is the last transaction logged, -1 when this server must not vote on its history.
  void start(Zxid zxid, std::int64_t current_epoch, Instant now, std::vector<NotificationSend>& sends);
  // While looking: counts. While settled: answers those who look. Of votes only those of voters matter.
  void on_notification(ServerId from, const wire::Notification& n, Instant now,
                       std::vector<NotificationSend>& sends);
  void on_time(Instant now, std::vector<NotificationSend>& sends);
  // When on_time() has something to do next; only while looking.
  std::optional<Instant> next_time() const;
  // Whether the election link to a voter works; it is taken to, until told otherwise. A voter whose link does
  // not work and who said nothing in this election is not waited for. Decides nothing by itself: next_time()
  // may be earlier afterwards.
  void set_reachable(ServerId server, bool reachable);

  bool looking() const { return looking_; }
  // Set once looking() has become false: the vote that won.
  const Vote& vote() const { return vote_; }
  // What this server became; it is told to those who look. After synchronising, the vote's epoch is the
  // new one (ZOOKEEPER-1732), or a restarted server could not join.
  void settle(wire::PeerState state) { state_ = state; }
  void set_established_epoch(std::int64_t epoch) { vote_.peer_epoch = epoch; }
  // Does this vote speak for more history than the one that won here? Not just for a larger id.
  bool is_better(const wire::Notification& n) const;
  // While leading: asks the voters whom they follow, with the question of one who looks, because nothing else
  // is answered, by Java neither. What it says is true for who counts it: the vote that was given here.
  void ask_voters(std::vector<NotificationSend>& sends) const;
  // While leading: whom a quorum of the others follows instead, by their word and its own.
  std::optional<ServerId> rival() const;
  // This leader's state contradicts ours. It gets no vote from here, and is joined only when a quorum of the
  // others still follows it at `until`: by then they have compared too, and have stayed. Nothing: trust all.
  void refuse(std::optional<ServerId> leader, Instant until = {});
  // While looking, start() again afterwards: candidates may have come or gone.
  void set_membership(const Membership& membership);

  // Once decided: did the votes say that the leader has no transaction? Who led already when we asked may
  // have logged something since.
  bool leader_seems_empty() const;

  std::int64_t round() const { return round_; }
  const Vote& proposal() const { return proposal_; }

 private:
  friend class Invariants;
  struct Received {
    Vote vote;
    wire::PeerState state{};
    std::int32_t version = 0;
  };
  using Votes = std::map<ServerId, Received>;

  // Talking.
  wire::Notification current() const;
  void tell_voters(Instant now, std::vector<NotificationSend>& sends);
  void answer(ServerId to, std::vector<NotificationSend>& sends) const;
  void answer_stranger(ServerId from, const wire::Notification& n,
                       std::vector<NotificationSend>& sends) const;

  // Counting (election_votes.cc).
  void on_candidate(ServerId from, const wire::Notification& n, Instant now,
                    std::vector<NotificationSend>& sends);
  void on_settled(ServerId from, const wire::Notification& n, Instant now);
  void on_rival(ServerId from, const wire::Notification& n);
  void propose(const Vote& vote, Instant now, std::vector<NotificationSend>& sends);
  bool beats(const Vote& vote, const Vote& other) const;
  static bool same(const Received& a, const Received& b);
  bool agreed(const Votes& votes, const Received& on, bool with_me = false) const;
  bool may_support(const Vote& vote) const;
  bool leader_confirmed(const Votes& votes, const Vote& vote) const;
  bool everybody_agrees() const;
  bool has_vote() const;
  bool can_lead() const;

  // Deciding.
  Instant decision_time() const;
  void consider(Instant now);
  void decide(const Vote& vote);
  void join(const Vote& vote);

  ElectionConfig config_;
  Membership membership_;
  wire::PeerState state_ = wire::PeerState::kLooking;
  bool looking_ = false;
  bool joined_ = false;  // the vote was won before we asked
  bool may_lead_ = true;
  Zxid own_zxid_{};  // -1: this server has no vote
  std::optional<ServerId> refused_;
  Instant refused_until_;
  Vote vote_;
  Vote initial_;   // what this server proposes while it knows of nobody better
  Vote proposal_;  // always of the round round_
  std::int64_t round_ = 0;

  Votes received_;                       // of this round, our own among them
  Votes settled_;                        // of any round, by servers that follow or lead; also while leading
  ServerSet heard_;                      // voters that said anything since start()
  ServerSet abstaining_;                 // voters that do not know their history
  ServerSet unreachable_;                // voters; outlives an election
  std::optional<Instant> quorum_since_;  // a quorum wants proposal_
  std::int64_t interval_ms_ = 0;         // between repetitions; doubles
  Instant repeat_at_;
};

}  // namespace drover::zab
