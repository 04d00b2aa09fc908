// SPDX-License-Identifier: Apache-2.0
#include "sim/script.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "storage/file_names.h"
#include "wire/jute.h"

namespace drover::sim {
namespace {

using storage::Survival;

constexpr ServerId kOne{1};

Plan small_plan(int voters = 3) {
  Plan plan = calm_plan(7, voters);
  plan.timing = {.tick_ms = 50, .init_limit_ticks = 8, .sync_limit_ticks = 4};
  plan.clients = 2;
  plan.start_spread = 100 * kMillisecond;
  plan.ops_per_second = 100;
  plan.session_timeout_ms = 400;
  plan.network.delay_high = 2 * kMillisecond;
  plan.disk.order_high = 2 * kMillisecond;
  plan.disk.snap_count = 1000;
  return plan;
}

Plan with_window(std::size_t txns) {
  Plan plan = small_plan();
  plan.window.txns = txns;
  return plan;
}

// Nothing is in memory, and the log files may be used, whatever their size is.
Plan with_the_log() {
  Plan plan = with_window(0);
  plan.disk.snapshot_size_factor = 0;
  plan.disk.snapshot_step_nodes = 1;
  return plan;
}

// Server 3, which leads first, holds nothing in memory; the others hold all. When its log diverges, they ask
// it to cut off what it has forgotten, and it discards everything.
Plan with_a_forgetful_leader() {
  Plan plan = with_window(500);
  plan.windows[ServerId{3}].txns = 0;
  return plan;
}

// A leader that has forgotten sends its state, in many pieces; a leader after it could send the rest.
Plan with_a_slow_snap() {
  Plan plan = with_a_forgetful_leader();
  plan.disk.snapshot_step_nodes = 1;
  return plan;
}

// It takes several times initLimit to send.
Plan with_a_snap_beyond_init_limit() {
  Plan plan = with_window(0);
  plan.disk.snapshot_step_nodes = 1;
  plan.network.state_time = 4 * plan.init_time();
  plan.network.state_piece_longest = plan.init_time() / 3;
  return plan;
}

Plan with_small_files(int voters = 3) {
  Plan plan = small_plan(voters);
  plan.disk.snap_count = 6;
  plan.disk.snap_bytes = 600;
  plan.disk.log_size_limit_bytes = 1024;
  plan.disk.preallocate_bytes = 512;
  plan.disk.purge_every = 200 * kMillisecond;
  plan.disk.snapshots_kept = 1;
  return plan;
}

Plan standalone_with_small_files() {
  Plan plan = with_small_files(1);
  plan.standalone = true;
  return plan;
}

Plan with_short_epochs() {
  Plan plan = small_plan();
  plan.last_counter = 15;
  return plan;
}

Plan with_observer() {
  Plan plan = small_plan();
  plan.observers = 1;
  plan.membership.add(simulated_server(ServerId{4}, zab::PeerType::kObserver));
  return plan;
}

void isolate_pair(Cluster& cluster, ServerId a, ServerId b, bool cut) {
  cluster.network().set_cut(host_of(a), host_of(b), cut);
  cluster.network().set_cut(host_of(b), host_of(a), cut);
}

void isolate(Cluster& cluster, ServerId server, bool cut) {
  for (const ServerId other : cluster.plan().servers()) {
    if (other != server) isolate_pair(cluster, server, other, cut);
  }
}

bool is_log(const std::string& name) { return storage::parse_log_name(name).has_value(); }
bool is_snapshot(const std::string& name) { return storage::parse_snapshot_name(name).has_value(); }

// In each of these files a sector becomes zero: in the middle of a log it looks as if nothing had ever been
// written from there on.
void zero_a_sector_of(SimServer& server, bool (*chosen)(const std::string& name)) {
  server.set_damaged();
  const std::string directory = "/data/version-2";
  const auto names = server.disk().list(directory);
  for (const std::string& name : *names) {
    if (!chosen(name)) continue;
    std::string bytes = server.disk().contents(directory + "/" + name);
    const std::size_t from = bytes.size() > storage::kSectorBytes ? storage::kSectorBytes : 0;
    for (std::size_t i = from; i < std::min(bytes.size(), from + storage::kSectorBytes); ++i) bytes[i] = '\0';
    server.disk().set_contents(directory + "/" + name, std::move(bytes));
  }
}

void write_for_a_while(Cluster& cluster) { cluster.run_for(1200 * kMillisecond); }

// A follower misses what the others agree on.
void let_one_fall_behind(Cluster& cluster) {
  write_for_a_while(cluster);
  isolate(cluster, kOne, true);
  cluster.run_for(600 * kMillisecond);
  isolate(cluster, kOne, false);
  cluster.run_for(600 * kMillisecond);
}

// It hears the others, but no server hears it: so it logs what no other server has.
void silence(Cluster& cluster, ServerId server, bool cut) {
  for (const ServerId other : cluster.plan().servers()) {
    if (other != server) cluster.network().set_cut(host_of(server), host_of(other), cut);
  }
}

// A leader logs what no other server hears of; meanwhile the others agree on something else.
void let_a_leader_go_astray(Cluster& cluster) {
  write_for_a_while(cluster);
  SimServer* leader = cluster.leader();
  if (!leader) return;
  const ServerId id = leader->id();
  silence(cluster, id, true);
  cluster.run_for(150 * kMillisecond);
  isolate(cluster, id, true);
  cluster.run_for(750 * kMillisecond);
  isolate(cluster, id, false);
  cluster.run_for(600 * kMillisecond);
}

// The same, but it crashes while it is isolated, and stays down for a while. nullopt: there was no leader.
std::optional<ServerId> let_a_leader_go_astray_and_crash(Cluster& cluster) {
  write_for_a_while(cluster);
  const SimServer* leader = cluster.leader();
  if (!leader) return std::nullopt;
  const ServerId id = leader->id();
  silence(cluster, id, true);
  cluster.run_for(150 * kMillisecond);
  cluster.server(id).crash(Farewell::kReset, Survival::kKeep);
  cluster.run_for(700 * kMillisecond);
  return id;
}

// It has forgotten that this was never agreed on: it reads its log as if all of it were history.
void let_a_leader_go_astray_and_restart(Cluster& cluster) {
  const auto id = let_a_leader_go_astray_and_crash(cluster);
  if (!id) return;
  silence(cluster, *id, false);
  cluster.server(*id).start();
  cluster.run_for(600 * kMillisecond);
}

// The same, but while it runs, the snapshots before its log become unreadable: then the log cannot be cut
// back any more.
void let_a_leader_go_astray_and_lose_its_snapshots(Cluster& cluster) {
  const auto id = let_a_leader_go_astray_and_crash(cluster);
  if (!id) return;
  cluster.server(*id).start();
  zero_a_sector_of(cluster.server(*id), is_snapshot);
  silence(cluster, *id, false);
  cluster.run_for(600 * kMillisecond);
}

// A stale follower is synced by a new leader that dies at once; the server that has everything was not there.
void let_the_leader_of_a_stale_follower_die(Cluster& cluster) {
  write_for_a_while(cluster);
  SimServer* leader = cluster.leader();
  if (!leader) return;
  const ServerId id = leader->id();
  const ServerId stale{raw(id) == 1 ? 2 : 1};
  const ServerId other{6 - raw(id) - raw(stale)};
  isolate(cluster, stale, true);
  cluster.run_for(300 * kMillisecond);
  isolate(cluster, other, true);
  isolate_pair(cluster, id, stale, false);
  cluster.run_for(500 * kMillisecond);
  cluster.server(id).crash(Farewell::kReset, Survival::kLose);
  isolate(cluster, other, false);
  cluster.run_for(900 * kMillisecond);
  cluster.server(id).start();
  cluster.run_for(500 * kMillisecond);
}

// The others have a new leader, and clients of both continue to send requests.
void leave_the_leader_in_the_dark(Cluster& cluster) {
  write_for_a_while(cluster);
  SimServer* leader = cluster.leader();
  if (!leader) return;
  const ServerId id = leader->id();
  cluster.network().leave_in_the_dark(host_of(id));
  isolate(cluster, id, true);
  cluster.run_for(600 * kMillisecond);
  isolate(cluster, id, false);
  cluster.run_for(600 * kMillisecond);
}

void kill_the_leader(Cluster& cluster) {
  write_for_a_while(cluster);
  SimServer* leader = cluster.leader();
  if (!leader) return;
  leader->crash(Farewell::kReset, Survival::kKeep);
  cluster.run_for(600 * kMillisecond);
  leader->start();
  cluster.run_for(600 * kMillisecond);
}

// A pause of half a second ends neither a session nor a link between servers.
Plan with_patience() {
  Plan plan = small_plan();
  plan.timing.sync_limit_ticks = 20;
  plan.session_timeout_ms = 1000;
  plan.ops_per_second = 50;
  return plan;
}

// Leaves the client's connection half-open. From now on it can connect to this server only.
void take_client_to(Cluster& cluster, SimClient& client, ServerId to) {
  for (const ServerId id : cluster.plan().servers())
    cluster.network().set_refused(client.host(), host_of(id), id != to);
  client.move();
}

bool connects_soon(Cluster& cluster, const SimClient& client, ServerId to) {
  const auto is_there = [&] { return client.client().is_connected() && client.client().server() == to; };
  for (int i = 0; i < 400 && !is_there(); ++i) cluster.run_for(kMillisecond);
  return is_there();
}

void write_over(SimClient& client, std::string_view value) {
  std::string body;
  wire::Writer w(body);
  w.string("/k0");
  w.buffer(value);
  w.i32(-1);
  client.probe(wire::OpCode::kSetData, body);
}

// A client writes to a paused follower, leaves it, tries it once more, and continues at the leader. When the
// follower resumes, it finds two connections of the session: the old one with a write, and the new one, which
// asks for the session.
void try_a_paused_follower_again(Cluster& cluster) {
  write_for_a_while(cluster);
  const SimServer* leader = cluster.leader();
  if (!leader) return;
  const ServerId leading = leader->id();
  const ServerId paused{raw(leading) == 1 ? 2 : 1};
  SimClient& client = cluster.client(0);
  take_client_to(cluster, client, paused);
  if (!connects_soon(cluster, client, paused)) return;
  cluster.server(paused).pause();
  write_over(client, "old");
  take_client_to(cluster, client, paused);
  cluster.run_for(200 * kMillisecond);  // Its machine accepts the connection, but the server does not answer.
  take_client_to(cluster, client, leading);
  if (!connects_soon(cluster, client, leading)) return;
  write_over(client, "new");
  cluster.run_for(50 * kMillisecond);
  cluster.server(paused).resume();
  cluster.run_for(300 * kMillisecond);
}

void wipe_one(Cluster& cluster) {
  write_for_a_while(cluster);
  SimServer& one = cluster.server(kOne);
  one.crash(Farewell::kReset, Survival::kKeep);
  one.wipe();
  one.start();
  cluster.run_for(600 * kMillisecond);
}

bool has_begun(const SimServer& server) {
  return server.is_up() && server.process()->has_member() &&
         server.process()->member().peer().current_epoch() > 0;
}

// One server has the history's first epoch and nothing else, one has lost everything agreed on since, and the
// one that has it is away.
void wipe_one_while_another_has_only_begun(Cluster& cluster) {
  for (int i = 0; i < 500 && !has_begun(cluster.server(kOne)); ++i) cluster.run_for(kMillisecond);
  isolate(cluster, kOne, true);
  write_for_a_while(cluster);
  SimServer& wiped = cluster.server(ServerId{2});
  SimServer& whole = cluster.server(ServerId{3});
  if (!whole.has_history()) return;
  for (SimServer* server : {&wiped, &whole}) server->crash(Farewell::kReset, Survival::kKeep);
  wiped.wipe();
  isolate(cluster, kOne, false);
  wiped.start();
  cluster.run_for(900 * kMillisecond);
  whole.start();
  cluster.run_for(600 * kMillisecond);
}

// Server 1 is isolated, server 2 damaged. Together they are a quorum, but only server 3 has the acknowledged
// writes.
void damage_one_while_another_is_stale(Cluster& cluster) {
  const ServerId whole{3};
  const ServerId damaged{2};
  write_for_a_while(cluster);
  isolate(cluster, kOne, true);
  cluster.run_for(300 * kMillisecond);
  // After a crash that lost its watermark too, the damage would look like a torn tail.
  if (!cluster.server(damaged).is_up()) return;
  for (const ServerId id : {whole, damaged}) cluster.server(id).crash(Farewell::kReset, Survival::kKeep);
  zero_a_sector_of(cluster.server(damaged), is_log);
  isolate(cluster, kOne, false);
  cluster.server(damaged).start();
  cluster.run_for(900 * kMillisecond);
  cluster.server(whole).start();
  cluster.run_for(600 * kMillisecond);
}

// No mark says that the disks are meant to be empty, and one server starts when the others have begun.
Plan of_new_servers() {
  Plan plan = small_plan();
  plan.initialized = false;
  plan.boot.late = {kOne};
  return plan;
}

void let_one_come_late(Cluster& cluster) {
  write_for_a_while(cluster);
  cluster.server(kOne).start();
  cluster.run_for(600 * kMillisecond);
}

// Twice a candidate was heard, chose an epoch, and was gone before any server promised it: the epoch that it
// accepted itself is later than the one that the others agree on meanwhile.
void let_one_promise_to_nobody(Cluster& cluster) {
  write_for_a_while(cluster);
  SimServer& one = cluster.server(kOne);
  one.crash(Farewell::kReset, Survival::kKeep);
  const std::string directory = "/data/version-2";
  const std::string accepted = "acceptedEpoch";
  const auto names = one.disk().list(directory);
  if (std::find(names->begin(), names->end(), accepted) == names->end()) return;
  const std::string promised = one.disk().contents(directory + "/" + accepted);
  one.disk().set_contents(directory + "/" + accepted,
                          std::to_string(std::strtoull(promised.c_str(), nullptr, 10) + 2));
  one.start();
  cluster.run_for(600 * kMillisecond);
}

Plan with_a_spoiled_state() {
  Plan plan = small_plan();
  plan.spoiled_states = true;
  plan.clients = 4;
  plan.ops_per_second = 200;
  return plan;
}

void spoil(Cluster& cluster, ServerId id) {
  for (int i = 0; i < 2000; ++i, cluster.run_for(kMillisecond)) {
    Process* process = cluster.server(id).process();
    if (process && process->has_member() && process->spoil_state()) break;
  }
  // The next write exposes it, and the others have as long as syncLimit to notice it, too.
  cluster.run_for(2 * cluster.plan().timing.sync_ms() * kMillisecond + 900 * kMillisecond);
}

// It takes the leader's state, and the others do not notice.
void spoil_a_follower(Cluster& cluster) {
  write_for_a_while(cluster);
  const SimServer* leader = cluster.leader();
  if (leader) spoil(cluster, ServerId{raw(leader->id()) == 1 ? 2 : 1});
}

// The others leave it and elect one of their own; it takes their state, they do not take its state.
void spoil_the_leader(Cluster& cluster) {
  write_for_a_while(cluster);
  const SimServer* leader = cluster.leader();
  if (leader) spoil(cluster, leader->id());
}

void restart_all(Cluster& cluster) {
  write_for_a_while(cluster);
  for (const ServerId id : cluster.plan().servers()) {
    cluster.server(id).crash(Farewell::kReset, Survival::kLose);
  }
  for (const ServerId id : cluster.plan().servers()) cluster.server(id).start();
  cluster.run_for(900 * kMillisecond);
}

// An intruder floods the ports and sends what is refused, or what an ensemble with a leader ignores.
Plan with_an_intruder() {
  Plan plan = small_plan();
  plan.intruder.every = 5 * kMillisecond;
  return plan;
}

// It also sends garbage to new servers, so that they do not start while it is there.
Plan with_an_intruder_at_the_first_start() {
  Plan plan = with_an_intruder();
  plan.initialized = false;
  plan.intruder.disturbs = true;
  return plan;
}

Plan with_an_intruder_in_an_election() {
  Plan plan = with_an_intruder();
  plan.intruder.disturbs = true;
  return plan;
}

// One server has lost its disk, and the intruder votes for it.
void let_an_intruder_disturb_an_election(Cluster& cluster) {
  write_for_a_while(cluster);
  cluster.intruder().begin();
  SimServer& one = cluster.server(kOne);
  one.crash(Farewell::kReset, Survival::kKeep);
  one.wipe();
  one.start();
  if (SimServer* leader = cluster.leader()) leader->crash(Farewell::kReset, Survival::kKeep);
  cluster.run_for(600 * kMillisecond);
}

void let_an_intruder_disturb_the_first_start(Cluster& cluster) {
  cluster.intruder().begin();
  write_for_a_while(cluster);
}

bool everybody_serves(Cluster& cluster) {
  const std::vector<ServerId> servers = cluster.plan().servers();
  return std::ranges::all_of(servers, [&](ServerId id) {
    const Process* process = cluster.server(id).process();
    return process && process->has_member() && process->is_serving();
  });
}

std::uint64_t lives(Cluster& cluster) {
  std::uint64_t all = 0;
  for (const ServerId id : cluster.plan().servers()) all += cluster.server(id).lives();
  return all;
}

// No server is disturbed; a server that looks for a leader or comes back gets past the intruder.
void let_an_intruder_knock(Cluster& cluster) {
  const Micros soon = 3 * cluster.plan().init_time();
  cluster.wait_until(soon, "everybody serves", [&] { return everybody_serves(cluster); });
  const SimServer* leader = cluster.leader();
  if (!leader) return;
  const std::uint64_t lives_before = lives(cluster);
  const std::uint32_t epoch = leader->process()->member().peer().accepted_epoch();
  cluster.intruder().begin();
  write_for_a_while(cluster);
  const bool reigns = cluster.leader() == leader && everybody_serves(cluster) &&
                      leader->process()->member().peer().accepted_epoch() == epoch;
  const bool all_up =
      std::ranges::all_of(cluster.plan().servers(), [&](ServerId id) { return cluster.server(id).is_up(); });
  if (!reigns && all_up && lives(cluster) == lives_before) cluster.fail("an intruder has ended a reign");
  for (const ServerId id : {kOne, ServerId{3}}) {
    cluster.server(id).crash(Farewell::kReset, Survival::kKeep);
    cluster.run_for(100 * kMillisecond);
    if (!cluster.server(id).is_up()) cluster.server(id).start();
    cluster.wait_until(soon, "everybody serves in spite of an intruder",
                       [&] { return everybody_serves(cluster); });
  }
}

Plan with_two_who_join() {
  Plan plan = small_plan();
  plan.reconfig = {.every = kSecond, .joining = {ServerId{4}, ServerId{5}}};
  return plan;
}

std::string lines_of(const std::vector<ServerId>& servers) {
  std::string lines;
  for (const ServerId server : servers)
    lines += (lines.empty() ? "" : ",") + line_of(simulated_server(server));
  return lines;
}

// One joins, the leader leaves, and then the others are replaced.
void change_members(Cluster& cluster) {
  write_for_a_while(cluster);
  cluster.change_members({.joining = lines_of({ServerId{4}})});
  cluster.run_for(300 * kMillisecond);
  if (const SimServer* leader = cluster.leader())
    cluster.change_members({.leaving = std::to_string(raw(leader->id()))});
  cluster.run_for(300 * kMillisecond);
  cluster.change_members({.all = lines_of({ServerId{4}, ServerId{5}})});
  write_for_a_while(cluster);
}

// Only the leader and the new members log it before the leader is lost. Two of the old members were cut off
// from it: one of them has to vote for a server that it has never heard of.
void lose_the_leader_of_new_members(Cluster& cluster) {
  write_for_a_while(cluster);
  SimServer* leader = cluster.leader();
  if (!leader) return;
  std::vector<ServerId> members{leader->id(), ServerId{4}, ServerId{5}};
  std::vector<ServerId> others;
  for (const ServerId voter : cluster.plan().membership.voters()) {
    if (voter != leader->id()) others.push_back(voter);
  }
  cluster.change_members({.all = lines_of(members)});
  cluster.run_for(2 * kMillisecond);
  for (const ServerId other : others) isolate(cluster, other, true);
  cluster.run_for(60 * kMillisecond);
  for (const ServerId each : {leader->id(), others.front()})
    cluster.server(each).crash(Farewell::kReset, Survival::kKeep);
  for (const ServerId other : others) isolate(cluster, other, false);
  cluster.run_for(200 * kMillisecond);
  if (!leader->is_up()) leader->start();
  write_for_a_while(cluster);
  if (!cluster.server(others.front()).is_up()) cluster.server(others.front()).start();
}

std::vector<Script> make_scripts() {
  const auto trunc = let_a_leader_go_astray_and_restart;
  return {
      {"boot-and-write", small_plan(), write_for_a_while, {Did::kElected, Did::kEstablished, Did::kSession}},
      {"boot-of-five", small_plan(5), write_for_a_while, {Did::kElected, Did::kEstablished, Did::kSession}},
      {"alone", small_plan(1), write_for_a_while, {Did::kEstablished}},
      {"standalone", standalone_with_small_files(), write_for_a_while, {Did::kSession, Did::kSnapshot}},
      {"roll-snapshot-purge",
       with_small_files(),
       write_for_a_while,
       {Did::kLogRoll, Did::kSnapshot, Did::kPurge}},
      {"follower-gets-diff", with_window(500), let_one_fall_behind, {Did::kDiff}},
      {"follower-gets-snap", with_window(0), let_one_fall_behind, {Did::kSnap}},
      {"follower-gets-diff-from-the-log", with_the_log(), let_one_fall_behind, {Did::kLogDiff}},
      {"stray-leader-is-not-in-the-log", with_the_log(), trunc, {Did::kNoLog, Did::kSnap}},
      {"follower-gets-half-a-snap", with_a_slow_snap(), let_one_fall_behind, {Did::kSnap}},
      {"follower-gets-slow-snap", with_a_snap_beyond_init_limit(), let_one_fall_behind, {Did::kSnap}},
      {"leader-gets-trunc", with_window(500), let_a_leader_go_astray, {Did::kTrunc}},
      {"restarted-leader-gets-trunc", with_window(500), trunc, {Did::kTrunc, Did::kReload}},
      {"stray-leader-gets-snap", with_window(0), trunc, {Did::kSnap}},
      {"forgetful-leader-gets-trunc", with_a_forgetful_leader(), trunc, {Did::kTrunc, Did::kReload}},
      {"damaged-leader-gets-trunc",
       with_a_forgetful_leader(),
       let_a_leader_go_astray_and_lose_its_snapshots,
       {Did::kTrunc, Did::kDiscard}},
      {"leader-of-a-stale-follower-dies", with_window(500), let_the_leader_of_a_stale_follower_die, {}},
      {"leader-in-the-dark", small_plan(), leave_the_leader_in_the_dark, {Did::kMove}},
      {"leader-change", small_plan(), kill_the_leader, {Did::kMove}},
      {"paused-follower-is-tried-again",
       with_patience(),
       try_a_paused_follower_again,
       {Did::kLeftOpen, Did::kMove}},
      {"new-servers", of_new_servers(), let_one_come_late, {Did::kBeginsAnew, Did::kRecovering}},
      {"promise-to-nobody", small_plan(), let_one_promise_to_nobody, {Did::kMadeWay}},
      {"intruder", with_an_intruder(), let_an_intruder_knock, {Did::kForeignLearner, Did::kForeignVote}},
      {"intruder-at-the-first-start",
       with_an_intruder_at_the_first_start(),
       let_an_intruder_disturb_the_first_start,
       {Did::kForeignLearner, Did::kForeignVote}},
      {"intruder-in-an-election",
       with_an_intruder_in_an_election(),
       let_an_intruder_disturb_an_election,
       {Did::kForeignLearner, Did::kForeignVote}},
      {"wiped-server", small_plan(), wipe_one, {Did::kRecovering, Did::kSnap}},
      {"wiped-and-only-begun", small_plan(), wipe_one_while_another_has_only_begun, {Did::kRecovering}},
      {"damaged-and-stale",
       small_plan(),
       damage_one_while_another_is_stale,
       {Did::kDamageFound, Did::kRecovering}},
      {"wrong-follower",
       with_a_spoiled_state(),
       spoil_a_follower,
       {Did::kSpoiled, Did::kContested, Did::kDiscard}},
      {"wrong-leader",
       with_a_spoiled_state(),
       spoil_the_leader,
       {Did::kSpoiled, Did::kContested, Did::kDiscard}},
      {"everybody-restarts", with_small_files(), restart_all, {Did::kPurge}},
      {"epochs-run-out", with_short_epochs(), write_for_a_while, {Did::kEpochOver}},
      {"observer", with_observer(), let_one_fall_behind, {Did::kDiff}},
      {"members-change",
       with_two_who_join(),
       change_members,
       {Did::kReconfigProposed, Did::kReconfigActivated, Did::kHandedOver}},
      {"leader-of-new-members-is-lost",
       with_two_who_join(),
       lose_the_leader_of_new_members,
       {Did::kReconfigProposed, Did::kReconfigActivated}}};
}

}  // namespace

const std::vector<Script>& scripts() {
  static const std::vector<Script> all = make_scripts();
  return all;
}

const Script* find_script(const std::string& name) {
  const auto found =
      std::find_if(scripts().begin(), scripts().end(), [&](const Script& s) { return s.name == name; });
  return found == scripts().end() ? nullptr : &*found;
}

bool tell(Cluster& cluster, const Script& script) {
  // A crashed server is back while the story goes on.
  for (const ServerId id : cluster.plan().servers())
    cluster.server(id).set_restarts(20 * kMillisecond, 80 * kMillisecond);
  cluster.start();
  script.act(cluster);
  cluster.heal();
  cluster.live();
  return !cluster.failed();
}

}  // namespace drover::sim
