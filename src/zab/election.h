// SPDX-License-Identifier: Apache-2.0
//
// Leader election: ZooKeeper's FastLeaderElection as inputs and outputs.
//
// Every server proposes itself, learns of better candidates (later epoch, then longer history, then larger
// id), and repeats the best it knows of until a quorum says the same. The result is only a good guess.
// Whether the leader really has every committed transaction is checked afterwards, when it counts epochs
// (zab/leader). So an election may be fast or wrong, but never unsafe.
//
// A server that does not know its own history (damaged or wiped disk: `zxid` -1) has no vote, as in Java. It
// does not count votes and its vote is not counted. It waits until the others have a leader that it can
// follow.
//
// Owned by Peer. Time comes in; notifications go out through `sends`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "wire/quorum.h"
#include "zab/effects.h"
#include "zab/memberships.h"

namespace drover::zab {

// The zxid in the notifications of a server without a vote.
inline constexpr Zxid kUnknownHistory{-1};

struct Vote {
  ServerId leader{};
  Zxid zxid{};
  std::int64_t round = 0;       // the election in which it was given
  std::int64_t peer_epoch = 0;  // the leader's current epoch
  friend bool operator==(const Vote&, const Vote&) = default;
};

struct ElectionConfig {
  ServerId me{};
  bool observer = false;  // learns who leads, but has no vote
  std::int64_t notification_min_ms = 200;
  std::int64_t notification_max_ms = 60'000;
  // How long better candidates may still appear once a quorum agrees. There is no wait if every reachable
  // voter has said the same.
  std::int64_t finalize_ms = 200;
};

// Each process counts rounds up by one, from 0. A round that is so far ahead was not reached by counting.
// Following it would take the ensemble to a point where no later round is possible: then the votes of that
// round count forever.
inline constexpr std::int64_t kRoundsApartMax = std::int64_t{1} << 32;

class Election {
 public:
  Election(const ElectionConfig& config, Memberships memberships);

  // Before start(): an observer learns who leads, but has no vote.
  void set_observer(bool observer) { config_.observer = observer; }
  // Before start(): false keeps this server from being elected. It still votes for others.
  void set_may_lead(bool may_lead) { may_lead_ = may_lead; }
  // Starts looking. `zxid` is the last logged transaction, or -1 if this server must not vote on its history.
  void start(Zxid zxid, std::int64_t current_epoch, Instant now, std::vector<NotificationSend>& sends);
  // While looking: counts votes. While settled: answers servers that look. Only votes of voters count.
  void on_notification(ServerId from, const wire::Notification& n, Instant now,
                       std::vector<NotificationSend>& sends);
  void on_time(Instant now, std::vector<NotificationSend>& sends);
  // When on_time() is due next; only while looking.
  std::optional<Instant> next_time() const;
  // Reports whether the election link to a voter works; it counts as working until reported otherwise. The
  // election does not wait for a voter whose link is down and which has said nothing in this election. This
  // call decides nothing by itself: next_time() may be earlier afterwards.
  void set_reachable(ServerId server, bool reachable);

  bool looking() const { return looking_; }
  // The vote that won; valid once looking() is false.
  const Vote& vote() const { return vote_; }
  // The role of this server, for the answers to servers that look. After synchronisation, the vote carries
  // the new epoch (ZOOKEEPER-1732); otherwise a restarted server could not join.
  void settle(wire::PeerState state) { state_ = state; }
  void set_established_epoch(std::int64_t epoch) { vote_.peer_epoch = epoch; }
  // Does this vote have more history than the one that won here? A larger id alone is not enough.
  bool is_better(const wire::Notification& n) const;
  // While leading: asks the voters whom they follow. It sends LOOKING notifications, because servers (Java's
  // too) answer nothing else. Their content is true for any server that counts it: the vote that was given
  // here.
  void ask_voters(std::vector<NotificationSend>& sends) const;
  // While leading: another leader that a quorum of the others follows, by their word and its own.
  std::optional<ServerId> rival() const;
  // This leader's state contradicts ours. It gets no vote from us. We join it only when a quorum of the
  // others follows it, and it has led for `wait_ms` since we first heard it say so: by then they have
  // compared too, and have stayed.
  void refuse(ServerId leader, std::int64_t wait_ms) { refused_[leader] = Refusal{wait_ms}; }
  void trust_all() { refused_.clear(); }
  bool refuses(ServerId leader) const { return refused_.contains(leader); }
  bool refuses_anybody() const { return !refused_.empty(); }
  // If called while looking, call start() again afterwards: candidates may have come or gone.
  void set_memberships(const Memberships& memberships);
  // A reconfiguration has named the next leader, so there is no election. Every server takes the same vote,
  // which is Java's: it has no round.
  void appoint(ServerId leader, Zxid reconfiguration);

  // Once decided: did the votes say that the leader has no transaction? A leader that already led when we
  // asked may have logged something since.
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

  // Sending.
  wire::Notification current() const;
  void tell_voters(Instant now, std::vector<NotificationSend>& sends);
  void answer(ServerId to, std::vector<NotificationSend>& sends) const;
  void answer_stranger(ServerId from, const wire::Notification& n,
                       std::vector<NotificationSend>& sends) const;

  // Counting (election_votes.cc).
  void on_candidate(ServerId from, const wire::Notification& n, Instant now,
                    std::vector<NotificationSend>& sends);
  void on_abstention(ServerId from, const wire::Notification& n, Instant now,
                     std::vector<NotificationSend>& sends);
  void on_settled(ServerId from, const wire::Notification& n, Instant now);
  void on_rival(ServerId from, const wire::Notification& n);
  void propose(const Vote& vote, Instant now, std::vector<NotificationSend>& sends);
  bool beats(const Vote& vote, const Vote& other) const;
  static bool same(const Received& a, const Received& b);
  bool agreed(const Votes& votes, const Received& on, bool with_me = false) const;
  bool is_enough_for(ServerId leader, const ServerSet& followers) const;
  void note_files_of(ServerId leader, const wire::Notification& n);
  bool may_support(const Vote& vote) const;
  bool has_led_long_enough(ServerId from, const wire::Notification& n, Instant now);
  bool is_acceptable(const Vote& vote) const;
  bool leader_confirmed(const Votes& votes, const Vote& vote) const;
  bool is_awaited() const;
  Vote last_candidate() const;
  void enter_round(std::int64_t round);
  bool everybody_agrees() const;
  bool has_vote() const;
  bool can_lead() const;

  // Deciding.
  Instant decision_time() const;
  void consider(Instant now);
  void decide(const Vote& vote);
  void join(const Vote& vote);

  ElectionConfig config_;
  Memberships memberships_;
  wire::PeerState state_ = wire::PeerState::kLooking;
  bool looking_ = false;
  bool joined_ = false;  // the vote had won before we asked
  bool may_lead_ = true;
  Zxid own_zxid_{};  // -1: this server has no vote
  struct Refusal {
    std::int64_t wait_ms = 0;
    // The reign that the leader spoke of last, and since when.
    std::int64_t round = 0;
    std::int64_t epoch = 0;
    std::optional<Instant> since{};
  };
  std::map<ServerId, Refusal> refused_;
  Vote vote_;
  Vote initial_;   // what this server proposes until it knows a better candidate
  Vote proposal_;  // its round is always round_
  std::int64_t round_ = 0;
  std::set<std::int64_t> rounds_;  // all rounds since start(), as far as they are remembered

  Votes received_;  // votes of this round, our own included
  Votes settled_;   // votes of any round, from servers that follow or lead; also while leading
  // Members as the leaders' files name them, of leaders whose files differ from ours.
  std::map<ServerId, Membership> files_of_leaders_;
  ServerSet heard_;                      // voters that said anything since start()
  ServerSet abstaining_;                 // voters that do not know their history
  ServerSet unreachable_;                // voters; kept across elections
  std::optional<Instant> quorum_since_;  // a quorum wants proposal_
  std::int64_t interval_ms_ = 0;         // between repetitions; doubles each time
  Instant repeat_at_;
};

}  // namespace drover::zab
