// SPDX-License-Identifier: Apache-2.0
//
// One member of an ensemble: it looks for a leader, leads or follows, and when that ends it looks again.
//
// Holds what outlives a role: the history, the epochs, the election. Each input runs to completion and
// appends to `effects` what the world must do. Every order to the disk is answered. A new election does not
// start before all orders are answered, because a vote describes what is on the disk.
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
#include "zab/memberships.h"
#include "zab/timing.h"

namespace drover::zab {

struct PeerConfig {
  ServerId me{};
  bool observer = false;
  Timing timing;
  std::int64_t notification_min_ms = 200;
  std::int64_t notification_max_ms = 60'000;
  std::int64_t finalize_ms = 200;
  SyncSettings sync{};
  // How long a leader without a quorum stays when a voter looks for a leader; negative: until it gives up.
  std::int64_t wait_for_epoch_ms = -1;
  std::uint64_t new_history_id = 0;  // random; for a history that begins with this server as its leader
  // This is the only server. It leads at once and for ever, without an election, an epoch of its own or an
  // epoch file: zxids go on where they ended, as in ZooKeeper's standalone server.
  bool standalone = false;
  // reconfigEnabled: the members can change while the server runs, and `observer` follows from them.
  bool reconfig_enabled = false;
};

// The result of recovery.
struct PeerStart {
  std::uint32_t accepted_epoch = 0;
  std::uint32_t current_epoch = 0;
  bool knows_history = true;  // false: damaged, or empty without being meant to be
  // The disk is empty, and no mark says whether this is intended: a new server, or one that lost its disk. It
  // counts as a server that knows its (empty) history only among servers that are empty too, and only if it
  // has heard of no voter with a history. Otherwise it counts as one that does not know its history.
  bool fresh = false;
  std::uint64_t history_id = 0;  // 0: unknown
  // The state that the history produces does not match its digests. One of the two is wrong.
  bool contradicted = false;
};

class Peer {
 public:
  Peer(const PeerConfig& config, Memberships memberships, History history, const PeerStart& start);

  // --- inputs ---
  void start(Instant now, Effects& effects);
  void on_notification(ServerId from, const wire::Notification& notification, Instant now, Effects& effects);
  void on_reachable(ServerId server, bool reachable) { election_.set_reachable(server, reachable); }
  void on_link(const LinkEvent& event, Instant now, Effects& effects);
  void on_packet(LinkId link, const wire::QuorumPacket& packet, Instant now, Effects& effects);
  // All packets that arrived together have been delivered.
  void on_packets_end(LinkId link, Instant now, Effects& effects);
  // Bytes arrived on the link, perhaps not yet a whole packet.
  void on_heard(LinkId link, Instant now);
  // The state that followed a SNAP is complete in memory. `membership` is the text of its /zookeeper/config.
  void on_snapshot_received(std::string_view membership, Instant now, Effects& effects);
  // Before StateReloaded, set_applied() says what the state holds now.
  void on_disk(const DiskAnswer& answer, Instant now, Effects& effects);
  void on_time(Instant now, Effects& effects);
  std::optional<Instant> next_time() const;

  // --- calls of the replica ---
  // Only while leading, in broadcast.
  void propose(TxnBatchPtr batch, Instant now, Effects& effects);
  // A transaction of the leader produces another state here than at the leader. Only the other servers can
  // tell which one is wrong. So this server leaves, keeps its files, and elects another leader if a quorum
  // agrees with it. It takes the leader's state only if a quorum of the others continues without it.
  void contest_leader(const std::string& why, Instant now, Effects& effects);
  // A transaction of the leader that we follow produced the same state here as at the leader.
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
  // The members in force.
  const Membership& membership() const { return memberships_.committed(); }
  const Memberships& memberships() const { return memberships_; }
  // Without a vote in any membership that counts: an observer, or a server that is about to join or was
  // removed.
  bool is_observer() const;
  const PeerConfig& config() const { return config_; }
  std::uint32_t accepted_epoch() const { return epochs_.accepted_epoch; }
  std::uint32_t current_epoch() const { return epochs_.current_epoch; }
  bool knows_history() const { return epochs_.knows_history; }
  bool is_fresh() const { return epochs_.fresh; }
  // Our state or an earlier leader's is wrong. Ours is not shown to clients, and not written to disk, until a
  // quorum makes us leader, or we have compared it with another leader's.
  bool doubts_state() const { return contradicted_ || election_.refuses_anybody(); }
  // The leader that we follow is one whose state we took, not before `since`.
  bool gave_in_since(Instant since) const;
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

  void accept(LinkId link, Instant now, Effects& effects);
  void on(const TxnsDurable& answer, Instant now, Effects& effects);
  void on(const EpochSaved& answer, Instant now, Effects& effects);
  void on(const LogTruncated& answer, Instant now, Effects& effects);
  void on(const SnapshotSaved& answer, Instant now, Effects& effects);
  void on(const StateReloaded& answer, Instant now, Effects& effects);
  void on(const MembershipStored& answer, Instant now, Effects& effects);
  void on(const HistoryDiscarded& answer, Instant now, Effects& effects);

  // Every input begins with this. The earlier orders in `effects` are counted.
  void begin(const Effects& effects) { counted_ = effects.disk.size(); }
  // Runs after every input: ends roles that are over, starts the role that was decided, counts orders.
  void settle(Instant now, Effects& effects);
  void change_roles(Instant now, Effects& effects);
  void count_orders(Effects& effects);
  bool needs_mark(const DiskOrder& order) const;
  void end_rewind();
  void look(std::string why, Instant now, Effects& effects);
  void follow_memberships(Effects& effects);
  bool adopt_membership(ServerId from, const wire::Notification& notification, Instant now, Effects& effects);
  bool hear_membership(ServerId from, const wire::Notification& notification, Instant now, Effects& effects);
  std::optional<Membership> believable(const std::string& text) const;
  bool take_appointment();
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
  // In epoch 0 there was no leader yet whose digest could be wrong.
  bool may_lead() const { return !contradicted_ || last_resort_ || epochs_.current_epoch == 0; }
  void become_last_resort(Instant now, Effects& effects);
  void give_in(ServerId leader, Instant now, Effects& effects);
  void discard_history(std::string why, Instant now, Effects& effects);
  void lead(Instant now, Effects& effects);
  void make_leader(Instant now, Effects& effects);
  void follow(ServerId leader, Instant now, Effects& effects);
  void drop_a_held_link(Effects& effects);
  bool only_looks_on(ServerId leader) const;
  void remember_refusal(const Learner& learner);
  Instant held_until(const HeldLink& held) const;
  void end_role(Effects& effects);

  PeerConfig config_;
  Memberships memberships_;
  History history_;
  PeerStart epochs_;
  Election election_;
  Role role_ = Role::kLooking;
  std::unique_ptr<Leader> leader_;
  Instant led_since_;
  Instant ask_at_;  // used while a leader lacks voters
  std::unique_ptr<Learner> learner_;
  std::string why_looking_ = "this server has started";
  bool election_due_ = false;  // starts when no disk order is open
  bool was_active_ = false;
  PeerCounts counts_;  // of finished roles
  Instant unavailable_since_;
  Instant election_began_;
  // Voters that have said that they have a history, and when they last did. They are remembered for the
  // lifetime of the process, because a voter that has answered once may be away only for a moment. But a
  // voter that says for a while that it is empty, and nothing else, is believed: an intruder may have spoken
  // in its name before.
  struct Claim {
    Instant last;                        // when it claimed to have a history
    std::optional<Instant> empty_since;  // when it first said afterwards that it is empty
  };
  std::map<ServerId, Claim> history_heard_;
  bool marked_ = false;                   // fresh, but by now the disk is marked as intentionally empty
  std::uint64_t ordered_history_id_ = 0;  // goes to disk with the current epoch
  bool discarding_ = false;
  // The history makes another state than the last digest on our disk says. Then this server leads only if
  // no other server led for as long as initLimit.
  bool contradicted_ = false;
  bool last_resort_ = false;
  // The leader that a reconfiguration named; it takes the place of an election.
  std::optional<Learner::Successor> appointed_;
  std::uint64_t memberships_seen_ = 0;
  // The leader whose state replaced ours, and when.
  std::optional<std::pair<ServerId, Instant>> gave_in_;
  std::size_t orders_open_ = 0;
  std::size_t counted_ = 0;  // how many of the disk orders in the effects of this input are counted as open
  // Orders under way that cut the history back, and where to. Until they are done, answers of the disk are
  // about transactions that are no longer ours.
  std::deque<Zxid> rewinds_;
  std::uint64_t next_dial_ = 0;
  // The leader whose epoch is older than the promised one, and how many times in a row.
  ServerId too_old_{};
  int too_old_times_ = 0;
  // Notifications of servers that looked for a leader when we did not, or before our own vote was known. We
  // process them once it is. Only the newest of each server is kept. Servers repeat a notification only
  // rarely, so without this an election would have to wait for the repetition.
  struct Early {
    wire::Notification notification;
    Instant at;
  };
  std::map<ServerId, Early> early_;
  // Learners that connected before we knew that we lead.
  std::map<LinkId, HeldLink> held_;
};

}  // namespace drover::zab
