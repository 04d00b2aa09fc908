// SPDX-License-Identifier: Apache-2.0
//
// One server: joins agreement (zab::Peer) and state (Replica). A standalone server is the only member of its
// ensemble.
//
// The peer decides the order of transactions and which are committed. The replica makes them from requests
// and applies them. The member passes other messages between servers to their handlers, passes proposals to
// the leader, and starts and ends the service with the role.
//
// Pure like both. The host feeds inputs and carries out effects. Inputs that only talk to peers need no lock.
// Work that touches the tree or the fronts waits for work_on_tree(), which the host calls under the writer
// lock while has_tree_work().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "replica/effects.h"
#include "replica/replica.h"
#include "replica/state_builder.h"
#include "state/machine.h"
#include "zab/peer.h"
#include "zab/reconfig.h"

namespace drover::replica {

// Reads the leader's state from its stream. Storage owns the format, this folder uses the content: the host
// connects them.
class StateReceiver {
 public:
  virtual ~StateReceiver() = default;
  // Passes what it reads to the builder, which outlives the transfer.
  virtual void begin(StateBuilder& builder) = 0;
  // Consumes whole records and returns how many bytes they were; nullopt: this is no state.
  virtual std::optional<std::size_t> feed(std::string_view bytes) = 0;
  virtual bool done() const = 0;
};

struct MemberConfig {
  zab::PeerConfig peer;
  // Packet limits for our leader: anything that a leader may have logged. And for learners, once they have
  // introduced themselves.
  wire::PacketLimits from_leader;
  wire::PacketLimits from_learners;
  // The largest data of a ping to our leader; any leader with our jute.maxbuffer can read this much.
  std::size_t ping_bytes_max = 0xfffff;
  zab::ReconfigRules reconfig;
  // How long to look for a leader before read-only clients get the last state. nullopt: never.
  std::optional<std::int64_t> read_only_after_ms;
};

// The result of recovery.
struct MemberStart {
  zab::Memberships memberships{zab::Membership{}};
  zab::History history;
  zab::PeerStart peer;
  // The state in memory is exactly what the history produces. If false, it may hold some later transactions:
  // a leader's state that was saved while it was not yet exact.
  bool exact = true;
};

class Member {
 public:
  // The replica starts without service. It, the machine and the receiver outlive the member.
  Member(const MemberConfig& config, MemberStart start, Replica& replica, state::Machine& machine,
         StateReceiver& receiver);

  // --- inputs ---
  void start(Instant now, Effects& effects);
  void on_front(FrontId front, ToReplica& batch, Instant now, WallTime wall, Effects& effects);
  void on_notification(ServerId from, const wire::Notification& notification, Instant now, Effects& effects);
  void on_reachable(ServerId server, bool reachable) { peer_.on_reachable(server, reachable); }
  void on_link(const zab::LinkEvent& event, Instant now, Effects& effects);
  // Returns how many bytes it consumed. Call under the writer lock if is_receiving_state(). It returns early
  // when a state begins, so that the host can check again.
  std::size_t on_link_bytes(zab::LinkId link, std::string_view bytes, Instant now, WallTime wall,
                            Effects& effects);
  bool is_receiving_state() const { return receiving_.has_value(); }

  // Answers to effects.zab.disk, in the same sequence, and to discard_history.
  void on_disk(const zab::DiskAnswer& answer, Instant now, Effects& effects);

  void on_tick(Instant now, WallTime wall, Effects& effects);
  void on_time(Instant now, Effects& effects);
  std::optional<Instant> next_time() const;

  bool has_tree_work() const;
  void work_on_tree(Instant now, WallTime wall, Effects& effects);

  // The state in memory is complete, and exactly what the history produces up to its last transaction. Only
  // then may it be saved as a snapshot. A snapshot of a state that is being replaced or reloaded, or that is
  // ahead of its zxid, would be taken for history at the next start.
  bool is_state_exact() const;
  // How often the state turned out to differ from the leader's.
  std::uint64_t divergences() const { return divergences_; }

  const zab::Peer& peer() const { return peer_; }
  zab::Peer& peer() { return peer_; }
  Replica& replica() { return replica_; }
  const Replica& replica() const { return replica_; }

 private:
  // Every input begins with this. The earlier orders in `effects` were seen.
  void begin(const Effects& effects) { orders_seen_ = effects.zab.disk.size(); }
  Service wanted_service() const;
  CodeResult<std::string> decide_reconfig(const wire::ReconfigRequest& request, Zxid zxid, bool may_write,
                                          Zxid prepared) const;
  void note_membership();
  Zxid first_proposal_after() const;
  const wire::PacketLimits& limits_of(zab::LinkId link) const;
  void note_looking(Instant now);
  void on_divergence(const Replica::Divergence& divergence, Instant now, Effects& effects);
  Zxid applicable() const;
  void after(Instant now, WallTime wall, Effects& effects);
  void note_orders(Instant now, Effects& effects);
  void note_answer(const zab::DiskAnswer& answer, Instant now);
  void propose_all(Instant now, Effects& effects);
  void send_to_leader(Effects& effects);
  void handle_messages(Instant now, WallTime wall, Effects& effects);
  void on_learner_message(const zab::PeerMessage& message, Instant now, WallTime wall, Effects& effects);
  void on_leader_message(const zab::PeerMessage& message, Effects& effects);
  std::size_t feed_state(zab::LinkId link, std::string_view bytes, Instant now, Effects& effects);
  void look_whether_exact();
  Zxid digests_from() const;
  void lose_link(zab::LinkId link, std::string why, Instant now, Effects& effects);

  MemberConfig config_;
  zab::Peer peer_;
  Replica& replica_;
  state::Machine& machine_;
  StateReceiver& receiver_;
  StateBuilder builder_;
  std::optional<zab::LinkId> receiving_;  // the link on which a state arrives
  Zxid receiving_zxid_{};
  bool receiving_begun_ = false;
  bool state_unusable_ = false;  // half received, or about to be reloaded
  Zxid inexact_until_{};
  std::optional<Instant> looking_since_;
  bool may_read_only_ = false;  // there was no leader for long enough
  std::uint64_t divergences_ = 0;
  std::size_t orders_seen_ = 0;  // disk orders in the effects of this input
  bool halted_ = false;
  bool was_member_ = false;  // of members that have been agreed on
  bool removed_ = false;     // from them, while this server ran
  WallTime wall_{};          // of the last input that had it
};

}  // namespace drover::replica
