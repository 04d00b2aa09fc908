// SPDX-License-Identifier: Apache-2.0
//
// Following or observing a leader: sync with its history, then log what it proposes.
//
//   kDialling      waiting for the link                       -> FOLLOWERINFO
//   kDiscovery     <- LEADERINFO; the epoch made durable      -> ACKEPOCH
//   kSync          <- DIFF | TRUNC | SNAP, transactions, NEWLEADER; all of it made durable, then the epoch
//                                                             -> ACK of NEWLEADER
//   kSynced        <- UPTODATE                                -> ACK
//   kBroadcast     <- PROPOSAL, COMMIT (INFORM for observers) -> ACK of what is durable
//
// Proposals are logged as they arrive, even before the leader is known to be established. But nothing is
// acknowledged before NEWLEADER is (ZOOKEEPER-4685), and clients see nothing before UPTODATE.
//
// Transactions of one read from the network go to the log as one batch: on_packet() gathers them, flush()
// hands them over.
//
// Owned by Peer for as long as it follows. If the leader breaks the rules, we leave it; it cannot stop us.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "wire/quorum.h"
#include "zab/counts.h"
#include "zab/effects.h"
#include "zab/history.h"
#include "zab/memberships.h"
#include "zab/timing.h"

namespace drover::zab {

struct LearnerConfig {
  ServerId me{};
  bool observer = false;
  Timing timing;
  // A voter without a vote: it has promised a later epoch than the leader's, and the leader does not step
  // down. It joins as an observer under an id that no server has; `observer` is set too. See
  // Learner::look_on().
  bool looks_on = false;
  bool reconfig_enabled = false;  // PeerConfig::reconfig_enabled
};

class Learner {
 public:
  enum class Phase : std::uint8_t { kDialling, kDiscovery, kSync, kSynced, kBroadcast, kOver };
  struct Start {
    std::uint32_t accepted = 0;
    std::uint32_t current = 0;
    bool knows_history = true;  // false: damaged or wiped disk
    // The disk is empty, and no mark says that this is intended. Then this server knows its history only if
    // all are empty: the leader is empty too, and no voter with a history was heard of.
    bool fresh = false;
    bool leader_seems_empty = false;  // a leader of ours says so itself
    bool history_exists = false;      // a voter has one
    std::uint64_t history_id = 0;     // 0: unknown
    ServerId leader{};
    LinkId link{};  // dialled
  };

  Learner(const LearnerConfig& config, Memberships& memberships, History& history, const Start& start,
          Instant now, Effects& effects);

  void on_link_up(Instant now, Effects& effects);
  void on_dial_failed(Instant now);
  void on_packet(const wire::QuorumPacket& packet, Instant now, Effects& effects);
  // The end of one read from the network.
  void flush(Effects& effects);
  // Bytes came: part of the leader's state, or of a packet that is not yet complete.
  void on_heard(Instant now) {
    last_heard_ = now;
    suspected_.reset();
  }
  // The leader's state is complete in memory. `membership` is the text of its /zookeeper/config.
  void on_snapshot_received(std::string_view membership, Effects& effects);
  void on_link_down() { end("the link to the leader is lost"); }
  // Some voter has a history.
  void on_history_heard_of() { start_.history_exists = true; }
  // An empty disk is either new or lost. If the leader is empty too, no server whose promise counts knows of
  // anything to lose.
  bool doubts_history() const;

  void on_durable(Effects& effects);
  void on_epoch_saved(EpochKind kind, std::uint32_t epoch, Effects& effects);
  void on_time(Instant now, Effects& effects);
  Instant next_time() const;

  // Only in broadcast.
  void send(wire::PacketType type, Zxid zxid, std::string_view data, Effects& effects);
  void send_request(std::string_view data, const std::vector<wire::Identity>& identities, Effects& effects);

  Phase phase() const { return phase_; }
  bool over() const { return phase_ == Phase::kOver; }
  const std::string& why_over() const { return why_over_; }
  std::uint32_t epoch() const { return epoch_; }
  ServerId leader() const { return start_.leader; }
  Instant linked_since() const { return phase_began_; }  // valid once linked
  const LearnerCounts& counts() const { return counts_; }
  LinkId link() const { return start_.link; }
  // Once over: a reconfiguration named this leader, or changed our role under the same leader.
  struct Successor {
    ServerId leader{};
    Zxid reconfiguration{};
  };
  const std::optional<Successor>& successor() const { return successor_; }
  // True if it ended because the promised epoch is later than the leader's.
  bool is_leader_too_old() const { return leader_too_old_; }
  // The state in memory is half the leader's. It can only be replaced.
  bool is_receiving_snapshot() const { return receiving_snapshot_; }
  // The last transaction that was committed before UPTODATE; empty until that packet arrives. What the leader
  // applied while it sent its state comes after NEWLEADER, but is committed here before the leader answers
  // our ACK of NEWLEADER. So a state that was sent while the leader continued is exact once all of this is
  // applied, and not earlier.
  std::optional<Zxid> level_at() const { return level_at_; }

 private:
  friend class Invariants;

  void end(std::string why);
  Instant dialled_until() const { return phase_began_ + config_.timing.connect_ms(); }
  void dial(Instant now, Effects& effects);
  void on_leader_info(const wire::QuorumPacket& packet, Effects& effects);
  bool parted_from(const wire::LeaderInfo& info, Effects& effects);
  std::uint64_t held_history() const;
  void look_on(Effects& effects);
  void send_epoch_ack(Effects& effects);
  void on_sync_packet(const wire::QuorumPacket& packet, Effects& effects);
  void begin_sync(const wire::QuorumPacket& packet, Effects& effects);
  void truncate(Zxid last, Effects& effects);
  void on_proposal(const wire::QuorumPacket& packet, Effects& effects);
  void on_commit(Zxid zxid);
  bool is_in_snapshot(Zxid zxid) const;
  void on_new_leader(const wire::QuorumPacket& packet, Effects& effects);
  void on_up_to_date(Effects& effects);
  void on_broadcast_packet(const wire::QuorumPacket& packet, Effects& effects);

  // learner_membership.cc
  void on_reconfig(std::string_view text, Zxid zxid, Effects& effects);
  void on_commit_and_activate(const wire::QuorumPacket& packet, Effects& effects);
  void on_inform_and_activate(const wire::QuorumPacket& packet, Effects& effects);
  void activate(Zxid zxid, ServerId leader, Effects& effects);
  void take_membership_of_state(std::string_view text, Effects& effects);
  void take_membership(std::string_view text, Effects& effects);
  void complete_membership(Effects& effects);
  bool has_role_changed() const;
  void refuse_membership(std::string_view text, Effects& effects);

  void count(wire::PacketType type);
  void acknowledge(Effects& effects);
  bool may_lose_patience() const;
  bool waits_for_nothing() const;
  std::string& out(Effects& effects) { return effects.to(start_.link); }

  LearnerConfig config_;
  Memberships& memberships_;
  History& history_;
  Start start_;
  Phase phase_ = Phase::kDialling;
  std::string why_over_;
  std::uint32_t epoch_ = 0;
  bool promised_before_ = false;  // this very epoch, perhaps to another leader
  bool epoch_asked_ = false;      // LEADERINFO has come
  bool leader_too_old_ = false;
  bool sync_begun_ = false;  // DIFF, TRUNC or SNAP has come
  bool receiving_snapshot_ = false;
  bool new_leader_seen_ = false;
  bool new_leader_acked_ = false;
  std::optional<Zxid> level_at_;
  std::optional<Zxid> snapshot_zxid_;  // the last zxid of the state that the leader sent
  Zxid received_{};                    // last transaction received
  Zxid committed_{};                   // last one known to be committed; becomes history's at flush()
  Zxid acked_{};
  std::shared_ptr<TxnBatch> gathering_;
  std::optional<Successor> successor_;
  int failed_dials_ = 0;
  std::optional<Instant> redial_at_;
  LearnerCounts counts_;
  Instant phase_began_;
  Instant last_heard_;
  std::optional<std::int64_t> promised_ping_ms_;  // promised by a drover leader
  std::optional<Instant> suspected_;              // since when the leader is suspected to be stuck
};

}  // namespace drover::zab
