// SPDX-License-Identifier: Apache-2.0
//
// Leading: from being elected to committing transactions, in Zab's three phases.
//
//   discovery         a quorum reports; an epoch newer than all of theirs is chosen, and promised by a quorum
//   synchronisation   each learner is brought to our history; a quorum has it on disk (ACK of NEWLEADER)
//   broadcast         proposals go out in order and are committed in order, each by a quorum of disks
//   handing over      a reconfiguration has made another server the leader; the learners leave for it
//
// The election only guessed who should lead. Discovery proves that we hold everything that was ever
// committed: no member of a quorum that has promised to follow no older leader has a later history than ours.
//
// A history begins when a quorum of servers with empty disks promises to follow a leader with an empty disk,
// and no voter with a history was heard of. The history then gets an id, which every server writes to disk
// with the epoch. The id tells two histories apart whose epochs and zxids look alike, because a quorum lost
// its disks and started again. This is safe: before a leader logs its first transaction, a quorum has the id
// on disk. So if a server holds transactions of another id, a quorum was without them: disks were lost, or
// servers had never taken part. No rule can tell which history is right.
//
// Split by subject: leader.cc has the phases, leader_handshake.cc the handshake with one learner,
// leader_broadcast.cc proposals, acknowledgements and pings, leader_membership.cc reconfigurations.
//
// Owned by Peer for as long as it leads. Packets of peers are input and never trusted; a confused learner
// loses its link, it cannot stop us.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "wire/quorum.h"
#include "zab/counts.h"
#include "zab/effects.h"
#include "zab/history.h"
#include "zab/leader_handshake.h"
#include "zab/memberships.h"
#include "zab/sync_plan.h"
#include "zab/timing.h"

namespace drover::zab {

struct LeaderConfig {
  ServerId me{};
  Timing timing;
  SyncSettings sync{};
  // Limit for new transactions kept in memory while a learner receives a state. A learner that reads it too
  // slowly for the ensemble's writes loses its link.
  std::size_t kept_bytes_max = std::size_t{256} << 20;
  std::uint64_t new_history_id = 0;  // for a history that begins here; 0: it gets none
  bool standalone = false;           // PeerConfig::standalone
  bool reconfig_enabled = false;     // PeerConfig::reconfig_enabled
};

class Leader {
 public:
  enum class Phase : std::uint8_t { kDiscovery, kSynchronisation, kBroadcast, kHandingOver, kOver };
  struct Epochs {
    std::uint32_t accepted = 0;
    std::uint32_t current = 0;
    std::uint64_t history_id = 0;  // 0: unknown
  };

  // From here on everything that we have logged counts as committed: it will be, or we do not lead.
  Leader(const LeaderConfig& config, Memberships& memberships, History& history, Epochs epochs, Instant now,
         Effects& effects);

  void on_link_accepted(LinkId link, Instant now, Effects& effects);
  void on_packet(LinkId link, const wire::QuorumPacket& packet, Instant now, Effects& effects);
  void on_link_down(LinkId link, Instant now, Effects& effects);
  // Bytes came from this learner, perhaps not yet a whole packet.
  void on_heard(LinkId link, Instant now);
  // The learner has read some of what it was sent. During synchronisation this is its only sign of life:
  // sending a state may take longer than initLimit, but the link may not stay silent that long.
  void on_taken(LinkId link, Instant now);
  // The snapshot or the log that effects.send asked for has been written to the link.
  void on_state_sent(LinkId link, Instant now, Effects& effects);
  // The log that effects.send asked for is in the files, and is sent after what this call sends; or it is
  // not, or not any more.
  void on_log_ready(LinkId link, Instant now, Effects& effects);
  void on_no_log(LinkId link, Instant now, Effects& effects);
  // history.durable() has moved.
  void on_durable(Instant now, Effects& effects);
  void on_epoch_saved(EpochKind kind, std::uint32_t epoch, Instant now, Effects& effects);
  void on_time(Instant now, Effects& effects);
  Instant next_time() const;

  // Only in broadcast. The batch continues history.last() or begins the epoch. It may hold a reconfiguration
  // if none is in progress.
  void propose(TxnBatchPtr batch, Instant now, Effects& effects);
  // `sync`: answered when everything proposed so far is committed and we are known to have led after the
  // question. A learner gets the answer on its link; for our own clients released_syncs() reaches the
  // returned number. Later proposals are committed after the answer, as in Java: a learner relies on it.
  std::uint64_t sync(std::optional<LinkId> asking, Instant now, Effects& effects);
  std::uint64_t released_syncs() const { return released_; }

  Phase phase() const { return phase_; }
  bool over() const { return phase_ == Phase::kOver; }
  const std::string& why_over() const { return why_over_; }
  std::uint32_t epoch() const { return epoch_; }
  // The last counter of an epoch. The epoch must end once everything is committed.
  static constexpr std::uint32_t kCounterMax = 0xffff'ffff;
  // Elected, but no quorum has connected so far.
  bool is_missed() const { return phase_ == Phase::kDiscovery && !epoch_chosen_; }
  // Not established, and too few voters are linked to us to become established.
  bool lacks_voters() const;
  // As far as we know, no server has logged anything.
  bool began_empty() const { return raw(began_with_last_) == 0; }
  void step_down(std::string why) { end(std::move(why)); }
  // Voters that are connected and synced, and this server: those that can acknowledge a reconfiguration.
  ServerSet synced() const;
  // Once over: a reconfiguration made this server the next leader.
  std::optional<ServerId> successor() const { return successor_; }

  const std::map<LinkId, LearnerLink>& learners() const { return learners_; }
  // Resets the traffic counters of the observers.
  void reset_observer_traffic();
  // For the monitor.
  struct Sizes {
    std::size_t last = 0;
    std::size_t min = 0;
    std::size_t max = 0;
  };
  const Sizes& proposal_bytes() const { return sizes_; }
  const LeaderCounts& counts() const { return counts_; }
  std::int64_t outstanding() const {
    return epoch_of(history_.last()) == epoch_ && history_.last() > history_.committed()
               ? counter_of(history_.last()) -
                     (epoch_of(history_.committed()) == epoch_ ? counter_of(history_.committed()) : 0)
               : 0;
  }
  std::size_t pending_syncs() const { return syncs_.size(); }
  const LearnerLink* find(LinkId link) const;

 private:
  friend class Invariants;
  using Stage = LearnerLink::Stage;

  void end(std::string why);
  void enter(LearnerLink& learner, Stage stage, Instant now);
  void drop(LinkId link, std::string why, Effects& effects);
  bool is_quorum_with_me(const ServerSet& others) const;
  bool has_learners() const;
  // The latest epoch on our own disk when we began.
  std::uint32_t known_epoch() const {
    return std::max({began_with_.accepted, began_with_.current, epoch_of(began_with_last_)});
  }

  // leader_handshake.cc
  void on_info(LearnerLink& learner, const wire::QuorumPacket& packet, Instant now, Effects& effects);
  void on_epoch_ack(LearnerLink& learner, const wire::QuorumPacket& packet, Instant now, Effects& effects);
  void on_new_leader_ack(LearnerLink& learner, const wire::QuorumPacket& packet, Instant now,
                         Effects& effects);
  void on_active_packet(LearnerLink& learner, const wire::QuorumPacket& packet, Instant now,
                        Effects& effects);
  void make_way(const LearnerLink& learner, std::uint32_t accepted, Effects& effects);
  void propose_epoch(LearnerLink& learner, Instant now, Effects& effects);
  void send_leader_info(const LearnerLink& learner, Effects& effects) const;
  bool parted_from(const LearnerLink& learner, const wire::LearnerInfo& info, Effects& effects);
  void synchronise(LearnerLink& learner, Instant now, Effects& effects);
  bool may_read_log(const LearnerLink& learner) const;
  bool admit(LearnerLink& learner, LearnerLink::Way way, Effects& effects);
  void begin_sending(LearnerLink& learner, Zxid from, Instant now);
  void send_state(LearnerLink& learner, Instant now, Effects& effects);
  void send_history(LearnerLink& learner, Zxid after, Instant now, Effects& effects);
  std::size_t synced_by(LearnerLink::Way way) const;
  void tell_sync(LearnerLink& learner, const char* how, Event event, Effects& effects);
  void keep_for_learners();
  void welcome(LearnerLink& learner, Instant now, Effects& effects);

  // leader.cc
  void lead_alone();
  bool begins_history() const;
  bool is_history_agreed() const { return epoch_promised_ || !began_empty(); }
  void say_that_history_begins(Effects& effects) const;
  void choose_epoch(Instant now, Effects& effects);
  void count_epoch_acks(Instant now, Effects& effects);
  void count_new_leader_acks(Instant now, Effects& effects);
  void check_liveness(Instant now, Effects& effects);
  void check_kept_history(Effects& effects);
  Instant synchronised_until() const;

  // leader_membership.cc
  bool is_member_or_guest(const LearnerLink& learner) const;
  void count_voters_again();
  void number_first_membership(Effects& effects);
  void complete_membership(Instant now, Effects& effects);
  void see_reconfig(const TxnBatch& batch, Effects& effects);
  bool activates(Zxid until) const;
  void activate(Instant now, Effects& effects);
  ServerId designated_leader() const;
  bool keeps_leading(const Membership& next) const;
  void hand_over(Instant now, Effects& effects);
  void check_handover(Instant now);

  // leader_broadcast.cc
  // Did we propose it in this epoch?
  bool was_proposed(Zxid zxid) const;
  void send_proposals(const TxnBatch& batch, Effects& effects);
  void send_commits(Zxid until, Effects& effects);
  void on_ack(LearnerLink& learner, Zxid zxid, Instant now, Effects& effects);
  void on_ping_reply(LearnerLink& learner, const wire::QuorumPacket& packet, Effects& effects);
  void commit_ready(Instant now, Effects& effects);
  bool has_quorum(Zxid zxid) const;
  void ping_all(Instant now, Effects& effects);
  void reassure_synchronising(Effects& effects);
  Zxid ready_to_commit() const;
  void commit_until(Zxid until, Instant now, Effects& effects);
  void commit_plain(Zxid until, Effects& effects);
  void begin_confirmation(Instant now, Effects& effects);
  void join_confirmation();
  void check_confirmation(Instant now, Effects& effects);

  LeaderConfig config_;
  Memberships& memberships_;
  History& history_;
  Phase phase_ = Phase::kDiscovery;
  std::string why_over_;
  Epochs began_with_;     // our own summary: no member of the quorum may know more
  Zxid began_with_last_;  // likewise
  std::uint64_t history_id_ = 0;
  std::uint32_t epoch_ = 0;
  bool epoch_chosen_ = false;
  bool epoch_accepted_here_ = false;   // durable in our own file
  bool epoch_promised_ = false;        // by a quorum
  bool history_current_here_ = false;  // currentEpoch is durable: our own ACK of NEWLEADER
  Instant phase_began_;
  Instant next_ping_;
  Instant next_check_;
  std::map<LinkId, LearnerLink> learners_;
  std::map<ServerId, std::uint32_t> accepted_epochs_;  // of the voters that have reported, including us
  std::optional<ServerId> successor_;
  // Members that were to get a DIFF from the log files, and have not got all of it.
  ServerSet tried_log_;
  ServerSet promised_;  // voters that promised this epoch to us, even if their link has broken since

  // Are we still the leader? One round of pings at a time answers all syncs that were asked before it began.
  struct Sync {
    std::uint64_t ticket = 0;
    Zxid after{};  // the last zxid proposed before it
    std::optional<LinkId> asking;
  };
  std::deque<Sync> syncs_;
  Sizes sizes_;
  LeaderCounts counts_;
  std::uint64_t asked_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t round_for_ = 0;  // the last ticket that the current round answers; 0: no round
  std::uint64_t confirmed_ = 0;
  std::map<LinkId, std::uint64_t> round_pings_;  // the ping number that each must answer
};

}  // namespace drover::zab
