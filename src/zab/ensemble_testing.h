// SPDX-License-Identifier: Apache-2.0
//
// Several zab servers in one test: the product's Peers, with a network, disks and a clock that do nothing by
// themselves. What happens is deterministic and printed line by line:
//
//   2: 3 says LEADERINFO 5.0                   | order acceptedEpoch 5
//   2: acceptedEpoch 5 is on disk              | ACKEPOCH 4.3 of epoch 4 -> 3
//
// Left: what a server hears. Right: what it does. Pings, and votes that change nothing, are not printed.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zab/invariants.h"
#include "zab/peer.h"
#include "zab/testing.h"

namespace drover::zab::testing {

// The files that survive a crash.
struct Disk {
  std::uint32_t accepted = 0;
  std::uint32_t current = 0;
  Zxid snapshot{};          // everything up to here is only in the snapshot
  std::vector<Zxid> log{};  // after the snapshot
  bool wiped = false;       // empty, and it is unknown whether that is intended
  std::uint64_t history_id = 0;
  Membership membership{};  // empty: that of the ensemble
  std::optional<Membership> proposed{};
  std::map<Zxid, std::string> reconfigs{};  // entries of the log, as long as they are in it

  Zxid last() const { return log.empty() ? snapshot : log.back(); }
};

// Texts of memberships need addresses; agreement does not.
inline Membership addressed(Membership members) {
  const auto servers = members.servers();
  for (auto [id, spec] : servers) {
    if (spec.addresses.empty()) spec.addresses = {{"s" + std::to_string(raw(id)), 2888, 3888}};
    members.add(spec);
  }
  return members;
}

class Ensemble {
 public:
  explicit Ensemble(std::int64_t servers, std::int64_t observers = 0)
      : membership_(voters(servers, observers)) {
    for (std::int64_t id = 1; id <= servers + observers; ++id) nodes_[id];
  }
  // The members may change. Servers after the members are there, too, and want to join.
  Ensemble& allow_reconfig(std::int64_t joining = 0) {
    reconfig_ = true;
    membership_ = addressed(membership_);
    const std::int64_t last = nodes_.rbegin()->first + joining;
    for (std::int64_t id = nodes_.rbegin()->first + 1; id <= last; ++id) {
      Membership with_it = membership_;
      with_it.add({.id = ServerId{id}});
      nodes_[id].disk.membership = addressed(with_it);
      nodes_[id].disk.wiped = true;
    }
    return *this;
  }

  // --- the script ---
  Disk& disk(std::int64_t id) { return nodes_[id].disk; }
  void start(const std::vector<std::int64_t>& ids);
  // All servers linked to it notice at once.
  void crash(std::int64_t id);
  // Everything sent to it or by it is lost, and no server is told.
  void isolate(std::int64_t id) { isolated_.insert(id); }
  void heal(std::int64_t id) { isolated_.erase(id); }
  void propose(std::int64_t id, std::uint32_t counter);
  void reconfigure(std::int64_t id, std::uint32_t counter, Membership next);
  // An intruder says this in the name of `from`.
  void forge(std::int64_t from, std::int64_t to, const wire::Notification& n) {
    input(to, "hears an intruder",
          [&](Peer& peer, Effects& more) { peer.on_notification(ServerId{from}, n, now_, more); });
    run();
  }
  // Its disk does nothing until work_disk() or release_disk().
  void hold_disk(std::int64_t id) { nodes_[id].held = true; }
  void work_disk(std::int64_t id, int orders = 1000);
  void release_disk(std::int64_t id) {
    nodes_[id].held = false;
    work_disk(id);
  }
  // Runs all servers until none has anything to send or write.
  void run();
  // Time passes.
  void pass(std::int64_t ms);

  void tell(const std::string& line) { story_.push_back(line); }
  const std::vector<std::string>& story() const { return story_; }
  void forget() { story_.clear(); }

  Peer& peer(std::int64_t id) { return *nodes_[id].peer; }
  bool is_up(std::int64_t id) const { return nodes_.at(id).peer != nullptr; }
  // The leader in broadcast; 0: none.
  std::int64_t leader() const;
  // Why it halted; empty: it did not.
  std::string why_halted(std::int64_t id) const { return nodes_.at(id).why_halted; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  std::size_t orders_held(std::int64_t id) const { return nodes_.at(id).orders.size(); }
  // Runs after every input, with the server that got it.
  std::function<void(const Ensemble&, std::int64_t)> after_step;
  std::vector<const Peer*> peers() const;

 private:
  struct Node {
    Disk disk;
    std::unique_ptr<Peer> peer;
    std::deque<DiskOrder> orders;
    bool held = false;
    bool discard = false;
    int life = 0;  // events for an earlier life are dropped
    std::string why_halted;
    std::uint64_t accepted_links = 0;
  };
  struct End {
    std::int64_t server = 0;
    LinkId link{};
    friend auto operator<=>(const End&, const End&) = default;
  };

  using Input = std::function<void(Peer&, Effects&)>;
  void input(std::int64_t id, const std::string& what, const Input& run);
  void later(std::int64_t id, std::function<void()> event);
  void carry_out(std::int64_t id, const std::string& what, Effects& effects, const Story& changes);
  void tell_columns(std::string left, std::string_view right);
  void send(std::int64_t id, const LinkSend& send, Story& did);
  void notify(std::int64_t id, const Effects& effects, Story& did);
  void order(std::int64_t id, const Effects& effects, Story& did);
  void dial(std::int64_t id, const Dial& dial);
  void close(std::int64_t id, LinkId link);
  void deliver(const End& to, const std::string& bytes);
  void answer_order(std::int64_t id);
  void settle_disk(std::int64_t id);
  void write(Disk& disk, const DiskOrder& order);
  bool lost(std::int64_t a, std::int64_t b) const { return isolated_.contains(a) || isolated_.contains(b); }

  Membership membership_;
  bool reconfig_ = false;
  std::map<std::int64_t, Node> nodes_;
  std::map<End, End> links_;
  std::set<std::int64_t> isolated_;
  std::deque<std::function<void()>> events_;
  std::vector<std::string> story_;
  std::vector<std::string> warnings_;
  Invariants invariants_;
  Instant now_{1000};
};

// --- script ---

inline void Ensemble::start(const std::vector<std::int64_t>& ids) {
  for (const std::int64_t id : ids) {
    Node& node = nodes_[id];
    const PeerConfig config{.me = ServerId{id},
                            .observer = membership_.observers().contains(ServerId{id}),
                            .timing = {.tick_ms = 100, .init_limit_ticks = 10, .sync_limit_ticks = 5},
                            .new_history_id = 1000 + static_cast<std::uint64_t>(id),
                            .reconfig_enabled = reconfig_};
    const PeerStart from{node.disk.accepted, node.disk.current, true, node.disk.wiped, node.disk.history_id};
    node.why_halted.clear();
    zab::History recovered = history(node.disk.snapshot, {});
    for (const Zxid zxid : node.disk.log) {
      const auto reconfig = node.disk.reconfigs.find(zxid);
      recovered.replay(zxid, reconfig == node.disk.reconfigs.end() ? entry(zxid) : reconfig->second);
    }
    if (node.disk.membership.servers().empty()) node.disk.membership = membership_;
    node.peer = std::make_unique<Peer>(config, Memberships(node.disk.membership, node.disk.proposed),
                                       std::move(recovered), from);
    ++node.life;
  }
  for (const std::int64_t id : ids) {
    input(id, "starts", [this](Peer& peer, Effects& effects) { peer.start(now_, effects); });
  }
}

inline void Ensemble::crash(std::int64_t id) {
  Node& node = nodes_[id];
  node.peer.reset();
  node.orders.clear();
  node.discard = false;
  std::vector<End> ends;
  for (const auto& [end, other] : links_) {
    if (end.server == id) ends.push_back(end);
  }
  for (const End& end : ends) close(end.server, end.link);
}

inline void Ensemble::propose(std::int64_t id, std::uint32_t counter) {
  const std::uint32_t epoch = peer(id).leader()->epoch();
  input(id, "a client writes",
        [&](Peer& peer, Effects& effects) { peer.propose(batch({zx(epoch, counter)}), now_, effects); });
}

inline void Ensemble::reconfigure(std::int64_t id, std::uint32_t counter, Membership next) {
  const Zxid zxid = zx(peer(id).leader()->epoch(), counter);
  next.set_version(raw(zxid));
  auto txns = std::make_shared<TxnBatch>();
  txns->add(zxid, reconfig_entry(zxid, next));
  input(id, "a client reconfigures",
        [&](Peer& peer, Effects& effects) { peer.propose(txns, now_, effects); });
}

inline void Ensemble::work_disk(std::int64_t id, int orders) {
  for (; orders > 0 && !nodes_[id].orders.empty(); --orders) answer_order(id);
}

inline void Ensemble::run() {
  while (!events_.empty()) {
    const auto event = std::move(events_.front());
    events_.pop_front();
    event();
  }
}

inline void Ensemble::pass(std::int64_t ms) {
  const Instant end = now_ + ms;
  for (run();;) {
    Instant due = end;
    for (const auto& [id, node] : nodes_) {
      if (const auto next = node.peer ? node.peer->next_time() : std::nullopt) due = std::min(due, *next);
    }
    now_ = std::max(now_ + 1, due);
    for (auto& [id, node] : nodes_) {
      input(id, "time passes", [this](Peer& peer, Effects& effects) { peer.on_time(now_, effects); });
    }
    run();
    if (now_ >= end) return;
  }
}

inline std::int64_t Ensemble::leader() const {
  for (const auto& [id, node] : nodes_) {
    if (node.peer && node.peer->leader() && node.peer->active()) return id;
  }
  return 0;
}

inline std::vector<const Peer*> Ensemble::peers() const {
  std::vector<const Peer*> all;
  for (const auto& [id, node] : nodes_) {
    if (node.peer) all.push_back(node.peer.get());
  }
  return all;
}

// --- inputs and effects ---

inline std::string name_of(Role role) {
  switch (role) {
    case Role::kLooking: return "LOOKING";
    case Role::kFollowing: return "FOLLOWING";
    case Role::kLeading: return "LEADING";
    case Role::kObserving: return "OBSERVING";
  }
  return "?";
}

inline void Ensemble::later(std::int64_t id, std::function<void()> event) {
  events_.push_back([this, id, life = nodes_[id].life, event = std::move(event)] {
    if (nodes_[id].peer && nodes_[id].life == life) event();
  });
}

inline void Ensemble::input(std::int64_t id, const std::string& what, const Input& run) {
  Node& node = nodes_[id];
  if (!node.peer) return;
  Peer& peer = *node.peer;
  const Role before = peer.role();
  const bool was_active = peer.active();
  const Zxid committed = peer.history().committed();
  Effects effects;
  run(peer, effects);
  // The replica's part: apply what is committed and durable, answer pings.
  const zab::History& h = peer.history();
  if (peer.active() && std::min(h.committed(), h.durable()) > h.applied())
    peer.set_applied(std::min(h.committed(), h.durable()));
  for (const PeerMessage& message : effects.messages) {
    if (peer.learner() && message.type == wire::PacketType::kPing)
      peer.learner()->send(message.type, message.zxid, {}, effects);
  }
  Story changes;
  if (was_active && h.committed() > committed) changes.push_back("commit " + text(h.committed()));
  if (peer.role() != before) {
    changes.push_back(peer.role() == Role::kLooking ? "LOOKING: " + peer.why_looking()
                                                    : name_of(peer.role()));
  }
  if (peer.active() && !was_active) changes.push_back("serve epoch " + std::to_string(peer.current_epoch()));
  carry_out(id, what, effects, changes);
  EXPECT_EQ(invariants_.after_step(peer, peers()), "") << id << " " << what;
  if (after_step) after_step(*this, id);
}

inline void Ensemble::carry_out(std::int64_t id, const std::string& what, Effects& effects,
                                const Story& changes) {
  Story did = changes;
  notify(id, effects, did);
  order(id, effects, did);
  for (const LinkSend& each : effects.send) send(id, each, did);
  for (const LinkId link : effects.close) close(id, link);
  if (effects.dial) dial(id, *effects.dial);
  warnings_.insert(warnings_.end(), effects.warnings.begin(), effects.warnings.end());
  if (effects.halt) {
    nodes_[id].why_halted = *effects.halt;
    later(id, [this, id] { crash(id); });
  }
  if (effects.discard_history) {
    nodes_[id].discard = true;
    did.emplace_back("discard the history");
  }
  later(id, [this, id] { settle_disk(id); });
  const bool dull = what == "time passes" || what.starts_with("hears") || what.starts_with("link") ||
                    what.find("PING") != std::string::npos;
  if (did.empty() && dull) return;
  std::string right;
  for (const std::string& each : did) right += (right.empty() ? "" : "; ") + each;
  tell_columns(std::to_string(id) + ": " + what, right);
}

inline void Ensemble::tell_columns(std::string left, std::string_view right) {
  constexpr std::size_t kLeft = 44;
  constexpr std::size_t kRight = 62;
  if (left.size() > kLeft && !right.empty()) {
    story_.push_back(left);
    left.clear();
  }
  if (right.empty()) return story_.push_back(left);
  while (!right.empty()) {
    std::size_t cut = right.size() <= kRight ? right.size() : right.rfind(' ', kRight);
    if (cut == std::string_view::npos) cut = right.size();
    left.resize(kLeft, ' ');
    story_.push_back(left + " | " + std::string(right.substr(0, cut)));
    right.remove_prefix(std::min(right.size(), cut + 1));
    left.clear();
  }
}

inline void Ensemble::notify(std::int64_t id, const Effects& effects, Story& did) {
  for (const NotificationSend& each : effects.notify) {
    const wire::Notification n = each.notification;
    const std::int64_t server = raw(each.to);
    const bool looking = n.state == wire::PeerState::kLooking;
    const std::string says = looking ? "vote for " + std::to_string(raw(n.leader)) + " (" + text(n.zxid) + ")"
                                     : "that " + std::to_string(raw(n.leader)) + " leads";
    const std::string told = (looking ? "" : "tell ") + says + " ->";
    if (did.empty() || !did.back().starts_with(told)) did.push_back(told);
    did.back() += " " + std::to_string(server);
    later(server, [this, id, server, n, says] {
      if (lost(id, server)) return;
      input(server, "hears " + std::to_string(id) + " " + says,
            [&](Peer& peer, Effects& more) { peer.on_notification(ServerId{id}, n, now_, more); });
    });
  }
}

inline void Ensemble::order(std::int64_t id, const Effects& effects, Story& did) {
  for (const DiskOrder& each : effects.disk) {
    did.push_back("order " + text(each));
    nodes_[id].orders.push_back(each);
    later(id, [this, id] {
      if (!nodes_[id].held && !nodes_[id].orders.empty()) answer_order(id);
    });
  }
}

// --- links ---

inline void Ensemble::send(std::int64_t id, const LinkSend& send, Story& did) {
  const auto found = links_.find({id, send.link});
  if (found == links_.end()) return;
  const End to = found->second;
  const std::string where = " -> " + std::to_string(to.server) + (lost(id, to.server) ? " (lost)" : "");
  if (send.snapshot) {
    did.push_back("the state" + where);
    later(to.server, [this, to] {
      if (!links_.contains(to) || isolated_.contains(to.server)) return;
      input(to.server, "has the leader's snapshot",
            [this](Peer& peer, Effects& more) { peer.on_snapshot_received("", now_, more); });
    });
    later(id, [this, id, link = send.link] {
      input(id, "snapshot is sent", [&](Peer& peer, Effects& more) {
        peer.on_link({link, LinkEvent::Kind::kStateSent}, now_, more);
      });
    });
    return;
  }
  std::string said;
  for_each_packet(send.bytes, [&](const wire::QuorumPacket& packet) {
    if (packet.type == wire::PacketType::kPing) return;
    said += (said.empty() ? "" : ", ") + text(packet);
  });
  if (!said.empty()) did.push_back(said + where);
  later(to.server, [this, to, bytes = send.bytes] { deliver(to, bytes); });
}

inline void Ensemble::deliver(const End& to, const std::string& bytes) {
  const auto found = links_.find(to);
  if (found == links_.end() || lost(to.server, found->second.server)) return;
  Story packets;
  for_each_packet(bytes, [&](const wire::QuorumPacket& packet) { packets.push_back(text(packet)); });
  std::string said = packets.front();
  if (packets.size() > 1) said += (packets.size() > 2 ? " ... " : ", ") + packets.back();
  input(to.server, std::to_string(found->second.server) + " says " + said, [&](Peer& peer, Effects& more) {
    for_each_packet(bytes,
                    [&](const wire::QuorumPacket& packet) { peer.on_packet(to.link, packet, now_, more); });
    peer.on_packets_end(to.link, now_, more);
  });
}

inline void Ensemble::dial(std::int64_t id, const Dial& dial) {
  const std::int64_t to = raw(dial.server);
  events_.push_back([this, id, to, link = dial.link, life = nodes_[id].life] {
    if (!nodes_[id].peer || nodes_[id].life != life) return;
    Peer& peer = *nodes_[id].peer;
    if (!peer.learner() || peer.learner()->link() != link) return;
    if (!nodes_[to].peer || lost(id, to)) {
      input(id, "link to " + std::to_string(to) + " fails",
            [&](Peer& me, Effects& more) { me.on_link({link, LinkEvent::Kind::kDialFailed}, now_, more); });
      return;
    }
    const LinkId accepted{++nodes_[to].accepted_links};
    links_[{id, link}] = {to, accepted};
    links_[{to, accepted}] = {id, link};
    input(to, "link from " + std::to_string(id), [&](Peer& other, Effects& more) {
      other.on_link({accepted, LinkEvent::Kind::kAccepted}, now_, more);
    });
    input(id, "link to " + std::to_string(to),
          [&](Peer& me, Effects& more) { me.on_link({link, LinkEvent::Kind::kUp}, now_, more); });
  });
}

// Packets that were sent before still arrive.
inline void Ensemble::close(std::int64_t id, LinkId link) {
  const auto found = links_.find({id, link});
  if (found == links_.end()) return;
  const End other = found->second;
  links_.erase(found);
  later(other.server, [this, other, id] {
    if (links_.erase(other) == 0) return;
    input(other.server, "link of " + std::to_string(id) + " is lost",
          [&](Peer& peer, Effects& more) { peer.on_link({other.link, LinkEvent::Kind::kDown}, now_, more); });
  });
}

// --- disks ---

inline void Ensemble::write(Disk& disk, const DiskOrder& order) {
  if (const auto* append = std::get_if<AppendTxns>(&order)) {
    for (std::size_t i = 0; i < append->batch->size(); ++i) {
      const std::string_view entry = append->batch->entry(i);
      disk.log.push_back(wire::zxid_of_entry(entry));
      if (is_reconfig(entry)) disk.reconfigs[disk.log.back()] = entry;
    }
  } else if (const auto* save = std::get_if<SaveEpoch>(&order)) {
    (save->kind == EpochKind::kAccepted ? disk.accepted : disk.current) = save->epoch;
    if (save->kind == EpochKind::kCurrent) disk.history_id = save->history_id;
  } else if (const auto* cut = std::get_if<TruncateLog>(&order)) {
    std::erase_if(disk.log, [&](Zxid zxid) { return zxid > cut->last; });
    std::erase_if(disk.reconfigs, [&](const auto& each) { return each.first > cut->last; });
  } else if (const auto* snapshot = std::get_if<SaveSnapshot>(&order)) {
    disk.log.clear();
    disk.snapshot = snapshot->zxid;
    disk.wiped = false;
  } else if (const auto* members = std::get_if<SaveMembership>(&order)) {
    if (members->committed) disk.membership = *members->membership;
    if (!members->committed) disk.proposed = *members->membership;
    if (disk.proposed && disk.proposed->version() <= disk.membership.version()) disk.proposed.reset();
  } else if (std::holds_alternative<WithdrawMembership>(order)) {
    disk.proposed.reset();
  }
}

inline std::string done(const DiskOrder& order) {
  if (std::holds_alternative<AppendTxns>(order)) return text(order).substr(7) + " is on disk";
  if (std::holds_alternative<TruncateLog>(order)) return "log is truncated" + text(order).substr(8);
  if (std::holds_alternative<ReloadState>(order)) return "state is reloaded";
  return text(order) + " is on disk";
}

inline void Ensemble::answer_order(std::int64_t id) {
  const DiskOrder order = nodes_[id].orders.front();
  nodes_[id].orders.pop_front();
  write(nodes_[id].disk, order);
  input(id, done(order), [&](Peer& peer, Effects& more) {
    if (const auto* append = std::get_if<AppendTxns>(&order))
      peer.on_disk(TxnsDurable{append->batch->last}, now_, more);
    if (const auto* save = std::get_if<SaveEpoch>(&order))
      peer.on_disk(EpochSaved{save->kind, save->epoch}, now_, more);
    if (std::holds_alternative<TruncateLog>(order)) peer.on_disk(LogTruncated{}, now_, more);
    if (std::holds_alternative<SaveSnapshot>(order)) peer.on_disk(SnapshotSaved{}, now_, more);
    if (std::holds_alternative<SaveMembership>(order) || std::holds_alternative<WithdrawMembership>(order))
      peer.on_disk(MembershipStored{}, now_, more);
    if (std::holds_alternative<ReloadState>(order)) {
      peer.set_applied(nodes_[id].disk.last());
      peer.on_disk(StateReloaded{}, now_, more);
    }
  });
}

// Once all earlier orders are done, the history may be discarded.
inline void Ensemble::settle_disk(std::int64_t id) {
  Node& node = nodes_[id];
  if (!node.orders.empty()) return;
  if (std::exchange(node.discard, false)) {
    node.disk.log.clear();
    node.disk.snapshot = Zxid{0};
    input(id, "history is set aside",
          [this](Peer& peer, Effects& more) { peer.on_disk(HistoryDiscarded{}, now_, more); });
  }
}

}  // namespace drover::zab::testing
