// SPDX-License-Identifier: Apache-2.0
//
// One server among others: it looks for a leader, leads or follows, and when that ends it looks again.
//
// Holds what outlives a role: the history, the epochs, the election. Inputs run to their end and append to
// `effects` what the world must do; every order to the disk is answered, and a new election does not begin
// before all of them are, because a vote speaks of what is on the disk.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "wire/quorum.h"
#include "zab/counts.h"
#include "zab/effects.h"
#include "zab/election.h"
#include "zab/history.h"
#include "zab/leader.h"
#include "zab/learner.h"
#include "zab/membership.h"
#include "zab/timing.h"

namespace drover::zab {

struct PeerConfig {
  ServerId me{};
  bool observer = false;
  Timing timing;
  std::int64_t notification_min_ms = 200;
  std::int64_t notification_max_ms = 60'000;
  std::int64_t finalize_ms = 200;
  bool force_snapshot = false;
  // How long a leader without a quorum stays when it hears a voter look for one; negative: until it gives up.
  std::int64_t wait_for_epoch_ms = -1;
  std::uint64_t new_history_id = 0;  // by chance; for a history that begins with this server as its leader
};

// What recovery found.
struct PeerStart {
  std::uint32_t accepted_epoch = 0;
  std::uint32_t current_epoch = 0;
  bool knows_history = true;  // false: damaged, or empty and not meant to be
  // Empty, and nobody said whether that is meant: a new server, or one whose disk was lost. It counts as one
  // that knows its (empty) history only among servers that are as empty, and only if it has heard of no voter
  // that is not. Otherwise as one that knows nothing.
  bool fresh = false;
  std::uint64_t history_id = 0;  // 0: unknown
  // The state that the history makes is not the one that its digests speak of. One of the two is wrong.
  bool contradicted = false;
};

class Peer {
 public:
  Peer(const PeerConfig& config, Membership membership, History history, const PeerStart& start);

  // --- inputs ---
  void start(Instant now, Effects& effects);
  void on_notification(ServerId from, const wire::Notification& notification, Instant now, Effects& effects);
  void on_reachable(ServerId server, bool reachable) { election_.set_reachable(server, reachable); }
  void on_link_accepted(LinkId link, Instant now, Effects& effects);
  void on_link_up(LinkId link, Instant now, Effects& effects);
  void on_dial_failed(LinkId link, Instant now, Effects& effects);
  void on_link_down(LinkId link, Instant now, Effects& effects);
  void on_packet(LinkId link, const wire::QuorumPacket& packet, Instant now, Effects& effects);
  // All packets that came together have been given.
  void on_packets_end(LinkId link, Instant now, Effects& effects);
  // Bytes came on it, though perhaps not yet a whole packet.
  void on_heard(LinkId link, Instant now);
  // Some of what was sent on it has left.
  void on_taken(LinkId link, Instant now);
  void on_snapshot_received(Instant now, Effects& effects);
  void on_state_sent(LinkId link, Instant now, Effects& effects);
  // Answers to orders, in their order.
  // `orders`: how many AppendTxns it answers at once.
  void on_durable(Zxid last, Instant now, Effects& effects, std::size_t orders = 1);
  void on_epoch_saved(EpochKind kind, std::uint32_t epoch, Instant now, Effects& effects);
  void on_truncated(Instant now, Effects& effects);
  // The files cannot be cut where the leader wants it; they are unchanged. What was ordered since is not
  // carried out, and not answered, until the history is discarded.
  void on_truncate_failed(Instant now, Effects& effects);
  void on_snapshot_saved(Instant now, Effects& effects);
  // set_applied() says what the state holds now.
  void on_state_reloaded(Instant now, Effects& effects);
  // effects.discard_history is carried out.
  void on_history_discarded(Instant now, Effects& effects);
  void on_time(Instant now, Effects& effects);
  std::optional<Instant> next_time() const;

  // --- by the replica ---
  // Only while leading, in broadcast.
  void propose(TxnBatchPtr batch, Instant now, Effects& effects);
  // A transaction of the leader makes another state here than there. Which one is wrong, only the others can
  // tell: this server leaves, keeps its files, and elects somebody else if a quorum thinks as it does. It
  // takes the leader's state only when a quorum of the others goes on without it.
  void contest_leader(const std::string& why, Instant now, Effects& effects);
  // A transaction of the leader that we follow made the same state here as there.
  void trust_state();
  void step_down(std::string why, Instant now, Effects& effects);
  void set_applied(Zxid zxid) { history_.set_applied(zxid); }

  Role role() const { return role_; }
  Instant led_since() const { return led_since_; }  // while leading
  // In broadcast: clients may be served.
  bool active() const;
  Leader* leader() { return leader_.get(); }
  const Leader* leader() const { return leader_.get(); }
  Learner* learner() { return learner_.get(); }
  const Learner* learner() const { return learner_.get(); }
  const Election& election() const { return election_; }
  const History& history() const { return history_; }
  const Membership& membership() const { return membership_; }
  const PeerConfig& config() const { return config_; }
  std::uint32_t accepted_epoch() const { return epochs_.accepted_epoch; }
  std::uint32_t current_epoch() const { return epochs_.current_epoch; }
  bool knows_history() const { return epochs_.knows_history; }
  bool is_fresh() const { return epochs_.fresh; }
  // Our state or an earlier leader's is wrong. Ours is shown to nobody, and not written down, until we lead
  // by the will of a quorum, or have compared it with another leader's.
  bool doubts_state() const { return doubt_.has_value(); }
  // Why the last election began.
  const std::string& why_looking() const { return why_looking_; }
  std::size_t orders_open() const { return orders_open_; }
  PeerCounts counts() const;

 private:
  friend class Invariants;
  struct HeldLink {
    std::optional<wire::QuorumPacket> info;
    std::string info_data;
    Instant since;
  };

  // Runs after every input: ends roles that are over, begins what was decided, counts orders.
  void settle(Instant now, Effects& effects);
  void change_roles(Instant now, Effects& effects);
  void count_orders(Effects& effects);
  bool needs_mark(const DiskOrder& order) const;
  void end_rewind();
  void look(std::string why, Instant now, Effects& effects);
  void ask_for_rival(Instant now, Effects& effects);
  void yield_to_rival();
  void reconsider(ServerId from, const wire::Notification& notification, Instant now);
  bool speaks_of_history(const wire::Notification& notification) const;
  bool listen_for_history(ServerId from, const wire::Notification& notification, Instant now,
                          Effects& effects);
  void wait_for_history(Instant now, Effects& effects);
  std::int64_t patience_for_voters() const;
  void remember(ServerId from, const wire::Notification& notification, Instant now);
  void begin_election(Instant now, Effects& effects);
  void begin_role(Instant now, Effects& effects);
  bool may_lead() const { return !doubt_ || doubt_->leader || last_resort_; }
  void become_last_resort(Instant now, Effects& effects);
  bool is_outvoted_by(ServerId leader) const;
  void give_in(ServerId leader, Instant now, Effects& effects);
  void discard_history(std::string why, Instant now, Effects& effects);
  void lead(Instant now, Effects& effects);
  void follow(ServerId leader, Instant now, Effects& effects);
  void drop_a_held_link(Effects& effects);
  bool only_looks_on(ServerId leader) const;
  void remember_refusal(const Learner& learner);
  Instant held_until(const HeldLink& held) const;
  void end_role(Effects& effects);

  PeerConfig config_;
  Membership membership_;
  History history_;
  PeerStart epochs_;
  Election election_;
  Role role_ = Role::kLooking;
  std::unique_ptr<Leader> leader_;
  Instant led_since_;
  Instant ask_at_;  // while a leader lacks voters
  std::unique_ptr<Learner> learner_;
  std::string why_looking_ = "this server has started";
  bool election_due_ = false;  // begins when the disk is quiet
  bool was_active_ = false;
  PeerCounts counts_;  // of roles that are over
  Instant unavailable_since_;
  Instant election_began_;
  // Voters that have said that they have a history, and when they last did. They are remembered for as long
  // as the process lives, because who has answered once may be away only for a moment. But who says that it
  // is empty, and nothing else for a while, is believed: somebody else may have spoken in its name.
  std::map<ServerId, Instant> history_heard_;
  bool marked_ = false;                   // fresh, but the disk says by now that it is meant to be empty
  std::uint64_t ordered_history_id_ = 0;  // with the current epoch that is on its way to the disk
  bool discarding_ = false;
  // Whose state contradicts ours. Nothing: that of the leader who wrote the last digest on our disk; then
  // this server follows anybody, and leads only if for as long as initLimit nobody else did.
  struct Doubt {
    std::optional<ServerId> leader;
  };
  std::optional<Doubt> doubt_;
  bool last_resort_ = false;
  ServerId followed_{};  // last
  std::size_t orders_open_ = 0;
  // Orders under way that take the history back, and where to: until they are done the disk speaks of
  // transactions that are no longer ours.
  std::deque<Zxid> rewinds_;
  std::uint64_t next_dial_ = 0;
  // The leader whose epoch is older than the promised one, and how often in a row it was.
  ServerId too_old_{};
  int too_old_times_ = 0;
  // Who looked for a leader when we did not, or before our own vote was known: heard once it is. The newest
  // of each. They repeat themselves only rarely, so that an election would have to wait for it.
  struct Early {
    wire::Notification notification;
    Instant at;
  };
  std::map<ServerId, Early> early_;
  // Learners that came before we knew that we lead.
  std::map<LinkId, HeldLink> held_;
};

}  // namespace drover::zab
