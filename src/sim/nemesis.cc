// SPDX-License-Identifier: Apache-2.0
#include "sim/nemesis.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "storage/file_names.h"

namespace drover::sim {
namespace {

using storage::DiskOperation;
using storage::Survival;

std::string text(const SimServer& server) { return std::to_string(raw(server.id())); }

}  // namespace

Nemesis::Nemesis(World& world, Network& network, ElectionNet& election, const Plan& plan, Servers& servers)
    : world_(world),
      network_(network),
      election_(election),
      plan_(plan),
      servers_(servers),
      random_(world.fork(3)) {}

void Nemesis::begin() {
  active_ = true;
  if (plan_.faults.total() > 0) schedule();
}

void Nemesis::heal() {
  active_ = false;
  ++round_;
  say("none any more");
  network_.heal();
  network_.plan().refused_percent = 0;
  election_.plan() = {};
  for (const auto& server : servers_) {
    server->disk().set_capacity(UINT64_MAX);
    server->disk().clear_faults();
    server->forget_crash_point();
    server->resume();
    if (!server->is_up()) server->start();
  }
}

void Nemesis::schedule() {
  world_.after(between(random_, 0, 2 * plan_.faults.every), [this] {
    if (!active_) return;
    strike();
    schedule();
  });
}

void Nemesis::after_while(Micros low, Micros high, World::Event event) {
  world_.after(between(random_, low, high), [this, round = round_, event = std::move(event)]() mutable {
    if (round == round_) event();
  });
}

SimServer* Nemesis::leader() {
  for (const auto& server : servers_) {
    if (server->is_up() && server->process()->is_leading()) return server.get();
  }
  return nullptr;
}

void Nemesis::strike() {
  ++incidents_;
  const FaultPlan& f = plan_.faults;
  std::uint64_t n = random_.below(f.total());
  const auto drawn = [&](std::uint32_t share) {
    if (n < share) return true;
    n -= share;
    return false;
  };
  if (drawn(f.crash)) return crash(any());
  if (drawn(f.power_loss)) return lose_power(any());
  if (drawn(f.crash_leader)) {
    if (SimServer* server = leader()) crash(*server);
    return;
  }
  if (drawn(f.crash_all)) {
    for (const auto& server : servers_) crash(*server);
    return;
  }
  if (drawn(f.pause)) return pause(any());
  if (drawn(f.reset)) return (void)network_.reset_any(random_, Port::kQuorum);
  if (drawn(f.reset_client)) return (void)network_.reset_any(random_, Port::kClient);
  if (drawn(f.partition)) return partition();
  if (drawn(f.wall_jump)) return jump(any());
  if (drawn(f.io_error)) return fail_disk(any());
  if (drawn(f.disk_full)) return fill_disk(any());
  if (drawn(f.in_the_dark)) return leave_leader_in_the_dark();
  if (drawn(f.slow_disk)) return slow_disk(any());
  if (drawn(f.crash_at_send)) return crash_at_send(any());
  if (drawn(f.damage)) return damage();
  wipe();
}

// --- processes ---

void Nemesis::crash(SimServer& server) {
  if (!server.is_up()) return;
  world_.count(Did::kCrash);
  // A killed process leaves its machine's page cache alone; a power loss does not.
  const bool killed = one_in(random_, 2);
  server.crash(Farewell::kReset, killed ? Survival::kKeep : static_cast<Survival>(random_.below(3)));
  start_later(server);
}

void Nemesis::start_later(SimServer& server) {
  const Micros longest = one_in(random_, 4) ? 20 * plan_.init_time() : plan_.init_time();
  after_while(0, longest, [&server] { server.start(); });
}

void Nemesis::lose_power(SimServer& server) {
  if (!server.is_up()) return;
  world_.count(Did::kPowerLoss);
  if (one_in(random_, 2)) {
    say("server " + text(server) + " loses power in a few disk operations");
    server.crash_at_disk(random_.below(12));
    return;
  }
  server.crash(Farewell::kSilent, static_cast<Survival>(random_.below(3)));
  start_later(server);
}

void Nemesis::crash_at_send(SimServer& server) {
  if (!server.is_up()) return;
  say("server " + text(server) + " crashes at one of its next sends");
  server.crash_at_send(random_.below(20), static_cast<Survival>(random_.below(3)));
}

void Nemesis::pause(SimServer& server) {
  if (!server.is_up() || server.is_paused()) return;
  world_.count(Did::kPause);
  say("server " + text(server) + " is paused");
  server.pause();
  after_while(10 * kMillisecond, plan_.timing.sync_ms() * kMillisecond * 3,
              [this, &server, life = server.lives()] {
                if (server.lives() != life || !server.is_up()) return;
                say("server " + text(server) + " goes on");
                server.resume();
              });
}

void Nemesis::jump(SimServer& server) {
  world_.count(Did::kWallJump);
  say("the wall clock of server " + text(server) + " jumps");
  server.clock().wall_offset_ms += between(random_, -3'600'000, 3'600'000);
}

// --- the network ---

// Cuts servers from each other, in one or both directions: one alone, two parts, or two parts and one server
// that sees both.
void Nemesis::partition() {
  std::vector<int> part(servers_.size());
  const std::uint64_t kind = random_.below(3);
  const std::size_t special = random_.below(servers_.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    part[i] = kind == 0 ? (i == special ? 1 : 0) : static_cast<int>(random_.below(2));
  }
  const bool bridge = kind == 2;
  const std::uint64_t ways = random_.below(3);  // both, or one of them
  std::vector<std::pair<HostId, HostId>> cuts;
  for (std::size_t i = 0; i < part.size(); ++i) {
    for (std::size_t j = 0; j < part.size(); ++j) {
      if (part[i] == part[j] || (bridge && (i == special || j == special))) continue;
      if (ways != 0 && part[i] != static_cast<int>(ways - 1)) continue;
      cuts.emplace_back(host_of(servers_[i]->id()), host_of(servers_[j]->id()));
    }
  }
  if (!cuts.empty()) world_.count(ways == 0 ? Did::kPartition : Did::kOneWayPartition);
  cut_for_a_while(cuts);
}

// The others know at once that they need a new leader, and have one long before the old one gives up.
void Nemesis::leave_leader_in_the_dark() {
  SimServer* old = leader();
  if (!old) return;
  world_.count(Did::kInTheDark);
  say("server " + text(*old) + " does not know that nobody follows it");
  const HostId dark = host_of(old->id());
  network_.leave_in_the_dark(dark);
  std::vector<std::pair<HostId, HostId>> cuts;
  for (const auto& server : servers_) {
    const HostId other = host_of(server->id());
    if (other == dark) continue;
    cuts.emplace_back(dark, other);
    cuts.emplace_back(other, dark);
  }
  cut_for_a_while(cuts);
}

void Nemesis::cut_for_a_while(const std::vector<std::pair<HostId, HostId>>& cuts) {
  std::string line = "cut";
  for (const auto& [from, to] : cuts) {
    network_.set_cut(from, to, true);
    line += " " + std::to_string(static_cast<std::uint32_t>(from)) + ">" +
            std::to_string(static_cast<std::uint32_t>(to));
  }
  say(line);
  after_while(plan_.timing.tick_ms * kMillisecond, 3 * plan_.init_time(), [this, cuts] {
    say("a cut heals");
    for (const auto& [from, to] : cuts) network_.set_cut(from, to, false);
  });
}

// --- disks ---

void Nemesis::fail_disk(SimServer& server) {
  if (!server.is_up()) return;
  constexpr DiskOperation kOperations[] = {DiskOperation::kWrite,  DiskOperation::kSync,
                                           DiskOperation::kRename, DiskOperation::kUnlink,
                                           DiskOperation::kCreate, DiskOperation::kSyncDirectory};
  const DiskOperation operation = kOperations[random_.below(std::size(kOperations))];
  say("an operation of server " + text(server) + "'s disk fails");
  server.disk().inject({.error = EIO, .only = operation, .skip = random_.below(10)});
}

void Nemesis::fill_disk(SimServer& server) {
  if (!server.is_up()) return;
  say("the disk of server " + text(server) + " is full soon");
  server.disk().set_capacity(server.disk().used_bytes() + random_.below(20'000));
  after_while(plan_.timing.tick_ms * kMillisecond, 3 * plan_.init_time(),
              [&server] { server.disk().set_capacity(UINT64_MAX); });
}

void Nemesis::slow_disk(SimServer& server) {
  if (!server.is_up() || !server.process()->has_member()) return;
  world_.count(Did::kSlowDisk);
  say("the disk of server " + text(server) + " stands still for a while");
  server.process()->stall_disk(between(random_, kMillisecond, 2 * plan_.init_time()));
}

// A quorum of the others must still hold what a lost disk held. A server that has never served does not
// count, even if its disk is marked as empty on purpose: together with a server whose disk was lost it may be
// a quorum without any history, and such a quorum begins a new one. That is a promise too.
bool Nemesis::is_held_without(const SimServer& victim) const {
  zab::ServerSet hold;
  for (const auto& server : servers_) {
    if (server->has_history() && server->id() != victim.id()) hold.insert(server->id());
  }
  if (!plan_.may_reconfigure()) return plan_.membership.is_quorum(hold);
  return victim.process()->member().peer().membership().is_quorum(hold);
}

// True if all servers have the same members and no change is in progress.
bool Nemesis::agree_on_members() const {
  std::set<std::int64_t> versions;
  for (const auto& server : servers_) {
    if (!server->is_up() || !server->process()->is_serving()) return false;
    const zab::Memberships& members = server->process()->member().peer().memberships();
    if (members.proposed()) return false;
    versions.insert(members.version());
  }
  return versions.size() == 1;
}

// One voter at a time, and only while all others are whole: a quorum still has what it loses.
SimServer* Nemesis::victim_for_damage() {
  if (plan_.may_reconfigure() && !agree_on_members()) return nullptr;
  const bool all_whole = std::none_of(servers_.begin(), servers_.end(),
                                      [](const auto& server) { return server->is_impaired(); });
  if (!all_whole) return nullptr;
  SimServer& server = any();
  // It stops cleanly, so that its watermark tells how far its log was durable. Otherwise a damaged tail looks
  // the same as one that a crash has torn.
  if (!server.is_up() || !is_held_without(server)) return nullptr;
  server.crash(Farewell::kReset, Survival::kKeep);
  return &server;
}

void Nemesis::damage() {
  SimServer* server = victim_for_damage();
  if (!server) return;
  server->set_damaged();
  damage_file(*server);
  start_later(*server);
}

void Nemesis::damage_file(SimServer& server) {
  const std::string directory = "/data/version-2";
  std::vector<std::string> files;
  const auto names = server.disk().list(directory);
  for (const std::string& name : *names) {
    const bool epoch = name == "acceptedEpoch" || name == "currentEpoch";
    if (epoch || storage::parse_log_name(name) || storage::parse_snapshot_name(name)) files.push_back(name);
  }
  if (files.empty()) return;
  const std::string path = directory + "/" + files[random_.below(files.size())];
  const std::size_t size = server.disk().contents(path).size();
  if (size > 0) damage_at(server, path, random_.below(size));
}

void Nemesis::damage_at(SimServer& server, const std::string& path, std::uint64_t at) {
  const std::string where = path + " of server " + text(server);
  // An epoch is a few digits: a flipped bit may turn it into another epoch, which no server could detect.
  const std::uint64_t kind = path.ends_with("Epoch") ? 2 + random_.below(3) : random_.below(5);
  if (kind < 2) {
    say("a bit of " + where + " flips at " + std::to_string(at));
    world_.count(Did::kBitFlip);
    return server.disk().flip_bit(path, at * 8 + random_.below(8));
  }
  if (kind == 2) {
    say("a sector of " + where + " cannot be read at " + std::to_string(at));
    return server.disk().break_sector(path, at);
  }
  say("a sector of " + where + " is zero at " + std::to_string(at));
  world_.count(Did::kZeroSector);
  std::string bytes = server.disk().contents(path);
  const std::size_t begin = at / storage::kSectorBytes * storage::kSectorBytes;
  for (std::size_t i = begin; i < std::min(bytes.size(), begin + storage::kSectorBytes); ++i) bytes[i] = '\0';
  server.disk().set_contents(path, std::move(bytes));
}

void Nemesis::wipe() {
  SimServer* server = victim_for_damage();
  if (!server) return;
  say("the disk of server " + text(*server) + " is wiped");
  world_.count(Did::kWipe);
  server->wipe();
  start_later(*server);
}

}  // namespace drover::sim
