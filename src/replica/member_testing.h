// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of Member: whole servers, agreement and state, with a network, disks and a clock that
// do nothing by themselves. All messages arrive, in order, when the test lets the servers work.
//
// The leader's state travels as two frames that name a copy of it. The first half is in the learner's tree
// when the first frame has arrived, the rest with the second.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replica/member.h"
#include "replica/state_copy_testing.h"
#include "replica/testing.h"
#include "wire/jute.h"

namespace drover::replica::testing {

// The files that survive a crash.
struct MemberDisk {
  std::uint32_t accepted = 0;
  std::uint32_t current = 0;
  std::optional<StateCopy> snapshot;
  bool exact = true;  // the snapshot is exact
  bool lost = false;  // earlier data was lost
  std::vector<std::pair<Zxid, std::string>> log;
};

class Cluster {
 public:
  static constexpr std::int64_t kTickMs = 100;

  struct Node final : Host {
    Node(Cluster& c, std::int64_t i) : cluster(c), id(i) {}
    Front& front(std::size_t) override { return *only_front; }
    void settle() override { cluster.run(); }

    Cluster& cluster;
    std::int64_t id;
    MemberDisk disk;
    std::unique_ptr<state::Machine> machine;
    std::unique_ptr<Front> only_front;
    std::unique_ptr<Replica> replica;
    std::unique_ptr<CopyReceiver> receiver;
    std::unique_ptr<Member> member;
    std::deque<zab::DiskOrder> orders;
    bool disk_held = false;
    bool discard = false;
    std::optional<std::string> halted;
    int life = 0;
    std::uint64_t accepted_links = 0;
    std::map<zab::LinkId, std::string> unread;
  };

  explicit Cluster(std::int64_t servers) {
    for (std::int64_t id = 1; id <= servers; ++id) {
      membership_.add({.id = ServerId{id}});
      nodes_.try_emplace(id, std::make_unique<Node>(*this, id));
    }
  }
  ReplicaConfig replica_config;  // for servers that are started from now on
  std::optional<std::int64_t> read_only_after_ms;
  bool force_snapshot = false;

  void start(const std::vector<std::int64_t>& ids);
  void crash(std::int64_t id);
  void isolate(std::int64_t id) { isolated_.insert(id); }
  void heal(std::int64_t id) { isolated_.erase(id); }
  // The second half of the leader's state stays on the way.
  void hold_states(bool held) { states_held_ = held; }
  void hold_disk(std::int64_t id, bool held) {
    node(id).disk_held = held;
    while (!held && !node(id).orders.empty()) answer_order(id);
  }
  // Its disk carries out one order.
  void work_disk(std::int64_t id) {
    answer_order(id);
    run();
  }
  void run();
  void pass(std::int64_t ms);
  // All running servers serve, and are synced.
  void settle_down() { pass(kTickMs * 8); }

  Node& node(std::int64_t id) { return *nodes_.at(id); }
  Member& member(std::int64_t id) { return *node(id).member; }
  Replica& replica(std::int64_t id) { return *node(id).replica; }
  state::Machine& machine(std::int64_t id) { return *node(id).machine; }
  bool has(std::int64_t id, std::string_view path) { return machine(id).tree.get(path) != nullptr; }
  std::int64_t leader() const {
    for (const auto& [id, n] : nodes_) {
      if (n->member && n->replica->service() == Service::kLeading) return id;
    }
    return 0;
  }
  // Runs after every input, with the server that got it.
  std::function<void(Node&)> after_step;

 private:
  struct End {
    std::int64_t server = 0;
    zab::LinkId link{};
    friend auto operator<=>(const End&, const End&) = default;
  };
  using Input = std::function<void(Member&, Effects&)>;
  void recover(Node& n, MemberStart& start);
  void input(std::int64_t id, const Input& give);
  void carry_out(Node& n, Effects& effects);
  void later(std::int64_t id, std::function<void()> event);
  void send(Node& n, const zab::LinkSend& send);
  void deliver(const End& to, const std::string& bytes);
  void dial(std::int64_t id, const zab::Dial& dial);
  void close(std::int64_t id, zab::LinkId link);
  void write(Node& n, const zab::DiskOrder& order);
  void answer_order(std::int64_t id);
  void settle_disk(std::int64_t id);
  bool lost(std::int64_t a, std::int64_t b) const { return isolated_.contains(a) || isolated_.contains(b); }

  zab::Membership membership_;
  std::map<std::int64_t, std::unique_ptr<Node>> nodes_;
  std::map<End, End> links_;
  std::set<std::int64_t> isolated_;
  std::deque<std::function<void()>> events_;
  std::vector<StateCopy> copies_;
  bool states_held_ = false;
  std::vector<std::pair<End, std::string>> held_;
  Instant now_{1'000'000};
  WallTime wall_{1'700'000'000'000};
  Instant next_tick_{1'000'000};
};

// --- script ---

// The state that the disk produces, and the window of transactions after its snapshot.
inline void Cluster::recover(Node& n, MemberStart& start) {
  bool begun = false;
  StateBuilder builder(*n.machine, [&](Zxid zxid, std::string_view entry) {
    if (!std::exchange(begun, true)) start.history.begin_at(builder.loaded_at());
    start.history.replay(zxid, entry);
  });
  builder.reset();
  if (n.disk.snapshot) {
    n.disk.snapshot->give(builder, 0, n.disk.snapshot->nodes.size());
    builder.loaded(n.disk.snapshot->zxid);
  } else {
    n.machine->tree.ensure_special_nodes();
  }
  for (const auto& [zxid, entry] : n.disk.log) builder.txn(zxid, entry);
  builder.finish();
  if (!begun) start.history.begin_at(n.machine->last_zxid);
  start.exact = n.disk.exact;
  start.peer.contradicted = builder.is_contradicted();
}

inline void Cluster::start(const std::vector<std::int64_t>& ids) {
  for (const std::int64_t id : ids) {
    Node& n = node(id);
    n.now = now_;
    n.machine = std::make_unique<state::Machine>(state::Options{});
    n.only_front = std::make_unique<Front>(FrontConfig{}, *n.machine);
    ReplicaConfig config = replica_config;
    config.tick_ms = kTickMs;
    config.first_session = SessionId{id << 56 | std::int64_t{++n.life} << 32};
    n.replica = std::make_unique<Replica>(config, *n.machine, std::vector<Front*>{n.only_front.get()}, now_);
    n.receiver = std::make_unique<CopyReceiver>(copies_);
    MemberStart start;
    start.memberships = membership_;
    start.peer = {
        .accepted_epoch = n.disk.accepted, .current_epoch = n.disk.current, .knows_history = !n.disk.lost};
    recover(n, start);
    MemberConfig member;
    member.peer.me = ServerId{id};
    member.peer.timing = {.tick_ms = kTickMs, .init_limit_ticks = 10, .sync_limit_ticks = 5};
    member.peer.sync.force_snapshot = force_snapshot;
    member.read_only_after_ms = read_only_after_ms;
    n.member = std::make_unique<Member>(member, std::move(start), *n.replica, *n.machine, *n.receiver);
  }
  for (const std::int64_t id : ids)
    input(id, [this](Member& member, Effects& effects) { member.start(now_, effects); });
}

inline void Cluster::crash(std::int64_t id) {
  Node& n = node(id);
  n.member.reset();
  n.orders.clear();
  n.unread.clear();
  n.discard = false;
  std::vector<End> ends;
  for (const auto& [end, other] : links_) {
    if (end.server == id) ends.push_back(end);
  }
  for (const End& end : ends) close(end.server, end.link);
}

inline void Cluster::run() {
  for (bool more = true; more;) {
    while (!events_.empty()) {
      const auto event = std::move(events_.front());
      events_.pop_front();
      event();
    }
    more = false;
    for (auto& [id, n] : nodes_) {
      if (!n->member) continue;
      n->only_front->collect();
      ToReplica batch = std::exchange(n->only_front->outbox(), ToReplica{});
      if (batch.empty() && batch.heard_until == Instant{}) continue;
      more |= !batch.empty();
      input(id, [&](Member& member, Effects& effects) {
        member.on_front(FrontId{0}, batch, now_, wall_, effects);
      });
    }
  }
}

inline void Cluster::pass(std::int64_t ms) {
  const Instant end = now_ + ms;
  for (run(); now_ < end; run()) {
    Instant due = std::min(end, next_tick_);
    for (const auto& [id, n] : nodes_) {
      if (const auto next = n->member ? n->member->next_time() : std::nullopt) due = std::min(due, *next);
    }
    wall_.ms += std::max(now_ + 1, due) - now_;
    now_ = std::max(now_ + 1, due);
    const bool tick = now_ >= next_tick_;
    if (tick) next_tick_ = now_ + kTickMs;
    for (auto& [id, n] : nodes_) {
      n->now = now_;
      if (!n->member) continue;
      if (tick) n->only_front->on_tick(now_);
      input(id, [&](Member& member, Effects& effects) {
        if (tick) member.on_tick(now_, wall_, effects);
        member.on_time(now_, effects);
      });
    }
  }
}

// --- inputs and effects ---

inline void Cluster::later(std::int64_t id, std::function<void()> event) {
  events_.push_back([this, id, life = node(id).life, event = std::move(event)] {
    if (node(id).member && node(id).life == life) event();
  });
}

// In the same way as the server's core.
inline void Cluster::input(std::int64_t id, const Input& give) {
  Node& n = node(id);
  if (!n.member || n.halted) return;
  Effects effects;
  give(*n.member, effects);
  carry_out(n, effects);
  while (n.member->has_tree_work()) {
    Effects more;
    n.member->work_on_tree(now_, wall_, more);
    carry_out(n, more);
  }
  if (after_step) after_step(n);
}

inline void Cluster::carry_out(Node& n, Effects& effects) {
  if (effects.halt) n.halted = effects.halt;
  for (const SessionAnswer& answer : effects.answers) n.only_front->on_session_answer(answer);
  for (const zab::NotificationSend& each : effects.zab.notify) {
    later(raw(each.to), [this, from = n.id, each] {
      if (lost(from, raw(each.to))) return;
      input(raw(each.to), [&](Member& member, Effects& more) {
        member.on_notification(ServerId{from}, each.notification, now_, more);
      });
    });
  }
  for (const zab::DiskOrder& order : effects.zab.disk) {
    n.orders.push_back(order);
    later(n.id, [this, id = n.id] {
      if (!node(id).disk_held && !node(id).orders.empty()) answer_order(id);
    });
  }
  for (const zab::LinkSend& each : effects.zab.send) send(n, each);
  for (const zab::LinkId link : effects.zab.close) close(n.id, link);
  if (effects.zab.dial) dial(n.id, *effects.zab.dial);
  if (effects.zab.discard_history) n.discard = true;
  later(n.id, [this, id = n.id] { settle_disk(id); });
}

// --- links ---

inline void Cluster::send(Node& n, const zab::LinkSend& send) {
  const auto found = links_.find({n.id, send.link});
  if (found == links_.end()) return;
  const End to = found->second;
  if (!send.snapshot) {
    later(to.server, [this, to, bytes = send.bytes] { deliver(to, bytes); });
    return;
  }
  std::string frame;
  wire::Writer(frame).i32(static_cast<std::int32_t>(copies_.size()));
  copies_.emplace_back(*n.machine);
  later(to.server, [this, to, frame] { deliver(to, frame); });
  later(to.server, [this, to, frame] {
    if (states_held_) return held_.emplace_back(to, frame), void();
    deliver(to, frame);
  });
  later(n.id, [this, id = n.id, link = send.link] {
    input(id, [&](Member& member, Effects& more) {
      member.on_link({link, zab::LinkEvent::Kind::kStateSent}, now_, more);
    });
  });
}

inline void Cluster::deliver(const End& to, const std::string& bytes) {
  const auto found = links_.find(to);
  if (found == links_.end() || lost(to.server, found->second.server)) return;
  // Nothing arrives after a state that is held.
  for (auto& [end, rest] : held_) {
    if (end == to) return rest.append(bytes), void();
  }
  std::string& unread = node(to.server).unread[to.link];
  unread += bytes;
  for (bool more = true; more && !unread.empty();) {
    std::size_t taken = 0;
    input(to.server, [&](Member& member, Effects& effects) {
      taken = member.on_link_bytes(to.link, unread, now_, wall_, effects);
    });
    unread.erase(0, taken);
    more = taken > 0;
  }
}

inline void Cluster::dial(std::int64_t id, const zab::Dial& dial) {
  const std::int64_t to = raw(dial.server);
  later(id, [this, id, to, link = dial.link] {
    const zab::Learner* learner = member(id).peer().learner();
    if (!learner || learner->link() != link) return;
    if (!node(to).member || lost(id, to)) {
      return input(id, [&](Member& me, Effects& more) {
        me.on_link({link, zab::LinkEvent::Kind::kDialFailed}, now_, more);
      });
    }
    const zab::LinkId accepted{++node(to).accepted_links};
    links_[{id, link}] = {to, accepted};
    links_[{to, accepted}] = {id, link};
    input(to, [&](Member& other, Effects& more) {
      other.on_link({accepted, zab::LinkEvent::Kind::kAccepted}, now_, more);
    });
    input(id, [&](Member& me, Effects& more) { me.on_link({link, zab::LinkEvent::Kind::kUp}, now_, more); });
  });
}

inline void Cluster::close(std::int64_t id, zab::LinkId link) {
  const auto found = links_.find({id, link});
  if (found == links_.end()) return;
  const End other = found->second;
  links_.erase(found);
  std::erase_if(held_, [&](const auto& each) { return each.first == other || each.first == End{id, link}; });
  later(other.server, [this, other] {
    if (links_.erase(other) == 0) return;
    node(other.server).unread.erase(other.link);
    input(other.server, [&](Member& member, Effects& more) {
      member.on_link({other.link, zab::LinkEvent::Kind::kDown}, now_, more);
    });
  });
}

// --- disks ---

inline void Cluster::write(Node& n, const zab::DiskOrder& order) {
  if (const auto* append = std::get_if<zab::AppendTxns>(&order)) {
    for (std::size_t i = 0; i < append->batch->size(); ++i) {
      const std::string_view entry = append->batch->entry(i);
      n.disk.log.emplace_back(wire::zxid_of_entry(entry), entry);
    }
  } else if (const auto* save = std::get_if<zab::SaveEpoch>(&order)) {
    (save->kind == zab::EpochKind::kAccepted ? n.disk.accepted : n.disk.current) = save->epoch;
  } else if (const auto* cut = std::get_if<zab::TruncateLog>(&order)) {
    std::erase_if(n.disk.log, [&](const auto& each) { return each.first > cut->last; });
  } else if (std::holds_alternative<zab::SaveSnapshot>(order)) {
    n.disk.log.clear();
    n.disk.snapshot.emplace(*n.machine);
    n.disk.lost = false;
    n.disk.exact = n.member->is_state_exact();
  }
}

inline void Cluster::answer_order(std::int64_t id) {
  Node& n = node(id);
  const zab::DiskOrder order = n.orders.front();
  n.orders.pop_front();
  write(n, order);
  input(id, [&](Member& member, Effects& more) {
    if (const auto* append = std::get_if<zab::AppendTxns>(&order))
      member.on_disk(zab::TxnsDurable{append->batch->last}, now_, more);
    if (const auto* save = std::get_if<zab::SaveEpoch>(&order))
      member.on_disk(zab::EpochSaved{save->kind, save->epoch}, now_, more);
    if (std::holds_alternative<zab::TruncateLog>(order)) member.on_disk(zab::LogTruncated{}, now_, more);
    if (std::holds_alternative<zab::SaveSnapshot>(order)) member.on_disk(zab::SnapshotSaved{}, now_, more);
    if (std::holds_alternative<zab::ReloadState>(order)) {
      MemberStart found;
      recover(n, found);
      member.on_disk(zab::StateReloaded{found.exact}, now_, more);
    }
  });
}

inline void Cluster::settle_disk(std::int64_t id) {
  Node& n = node(id);
  if (!n.orders.empty()) return;
  if (std::exchange(n.discard, false)) {
    n.disk.log.clear();
    n.disk.snapshot.reset();
    MemberStart ignored;
    recover(n, ignored);
    n.machine->last_zxid = Zxid{0};
    input(id, [this](Member& member, Effects& more) { member.on_disk(zab::HistoryDiscarded{}, now_, more); });
  }
}

}  // namespace drover::replica::testing
