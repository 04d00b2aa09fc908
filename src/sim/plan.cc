// SPDX-License-Identifier: Apache-2.0
#include "sim/plan.h"

#include <algorithm>

namespace drover::sim {
namespace {

std::uint32_t share(Random& random, std::uint64_t chance) {
  return percent(random, chance) ? static_cast<std::uint32_t>(between(random, 1, 10)) : 0;
}

void add_servers(Plan& plan) {
  using enum zab::PeerType;
  for (int i = 1; i <= plan.voters + plan.observers; ++i) {
    plan.membership.add(simulated_server(ServerId{i}, i <= plan.voters ? kParticipant : kObserver));
  }
}

void choose_membership(Random& random, Plan& plan) {
  add_servers(plan);
  if (plan.voters < 5 || !one_in(random, 4)) return;
  // Two of three groups decide: {1,2}, {3,4}, {5}, and some servers weigh more than others.
  plan.membership.set_groups(
      {{1, {ServerId{1}, ServerId{2}}}, {2, {ServerId{3}, ServerId{4}}}, {3, {ServerId{5}}}});
  for (int i = 1; i <= 5; ++i) plan.membership.set_weight(ServerId{i}, between(random, 1, 3));
}

void choose_sizes(Random& random, Plan& plan) {
  plan.voters = pick(random, {1, 3, 3, 3, 3, 5, 5});
  plan.observers = pick(random, {0, 0, 0, 1, 2});
  plan.clients = static_cast<int>(between(random, 1, 12));
  plan.fronts = static_cast<std::size_t>(between(random, 1, 2));
  plan.timing.tick_ms = pick<std::int64_t>(random, {50, 100, 200, 500, 1000, 2000});
  plan.timing.init_limit_ticks = between(random, 5, 10);
  plan.timing.sync_limit_ticks = between(random, 2, 5);
  plan.session_timeout_ms = static_cast<std::int32_t>(plan.timing.tick_ms * between(random, 2, 20));
  plan.window.txns = pick<std::size_t>(random, {0, 1, 5, 20, 100, 500});
  plan.leader_serves = plan.voters == 1 || !one_in(random, 8);
  plan.clock_drift = one_in(random, 2);
  plan.ops_per_second = pick<std::int64_t>(random, {5, 20, 50, 200});
  plan.safety_time = between(random, 20, 90) * kSecond;
}

void choose_disk(Random& random, Plan& plan) {
  plan.disk.order_high = pick<Micros>(random, {1, 10, 50, 300}) * kMillisecond;
  plan.disk.snap_count = pick<std::int64_t>(random, {5, 20, 100, 500});
  plan.disk.preallocate_bytes = pick<std::uint64_t>(random, {0, 1024, 4096, 65536});
  plan.disk.log_size_limit_bytes = pick<std::uint64_t>(random, {0, 0, 4096, 32768});
  plan.disk.snapshots_kept = static_cast<std::size_t>(between(random, 1, 3));
  plan.disk.purge_every = one_in(random, 2) ? between(random, 2, 20) * kSecond : 0;
  plan.disk.snapshot_step_nodes = static_cast<std::size_t>(between(random, 1, 16));
  if (one_in(random, 4)) {
    const auto epoch = between(random, 1, 1000);
    plan.begins_at =
        Zxid{epoch << 32 | pick<std::int64_t>(random, {0x7fff'fffb, 0xffff'fff0, 0xffff'fffe, 7})};
  }
  plan.initialized = one_in(random, 2);
  if (one_in(random, 4)) plan.last_counter = static_cast<std::uint32_t>(between(random, 20, 300));
}

void choose_network(Random& random, Plan& plan) {
  plan.network.delay_high = pick<Micros>(random, {1, 5, 20, 100}) * kMillisecond;
  // Any slower, and all timeouts of the ensemble would be too short for it.
  plan.network.delay_high = std::min(plan.network.delay_high, plan.timing.tick_ms * kMillisecond / 4);
  plan.disk.order_high = std::min(plan.disk.order_high, plan.timing.tick_ms * kMillisecond / 2);
  plan.network.split_percent = pick<std::uint64_t>(random, {0, 5, 50});
  plan.network.refused_percent = pick<std::uint64_t>(random, {0, 0, 5, 20});
  plan.network.connect_timeout = between(random, 200, 2000) * kMillisecond;
  if (one_in(random, 3)) {
    plan.election.lost_percent = between(random, 0, 20);
    plan.election.doubled_percent = between(random, 0, 20);
  }
}

void choose_faults(Random& random, Plan& plan) {
  FaultPlan& f = plan.faults;
  if (one_in(random, 20)) return;  // A run without faults must be one without incidents.
  f.every = std::max<Micros>(plan.timing.tick_ms * kMillisecond, 100 * kMillisecond) *
            pick<std::int64_t>(random, {2, 5, 10, 30});
  f.crash = share(random, 60);
  f.power_loss = share(random, 50);
  f.crash_leader = share(random, 40);
  f.crash_all = share(random, 15);
  f.pause = share(random, 40);
  f.reset = share(random, 50);
  f.reset_client = share(random, 50);
  f.partition = share(random, 50);
  f.wall_jump = share(random, 30);
  f.io_error = share(random, 25);
  f.disk_full = share(random, 15);
  f.slow_disk = share(random, 20);
  f.crash_at_send = share(random, 30);
  if (plan.voters < 3) return;  // A standalone server cannot be healed by others.
  f.damage = share(random, 25);
  f.wipe = share(random, 20);
  f.in_the_dark = share(random, 30);
}

// A whole state may take several times initLimit; a piece of it does not. But it must not take longer than an
// epoch: then every transfer would end with its leader, and real epochs are too long for that.
void choose_slow_states(Random& random, Plan& plan) {
  if (!one_in(random, 4) || plan.last_counter != Plan{}.last_counter) return;
  plan.network.state_time = between(random, 1, 5) * plan.init_time();
  plan.network.state_piece_longest = plan.init_time() / 3;
}

void choose_windows(Random& random, Plan& plan) {
  if (!one_in(random, 3)) return;
  for (const ServerId server : plan.servers())
    plan.windows[server].txns = pick<std::size_t>(random, {0, 0, 5, 100, 500});
}

// Some servers. The remaining voters, not counting those in `without`, are still a quorum.
std::set<ServerId> some_of(Random& random, const Plan& plan, const std::set<ServerId>& without) {
  std::set<ServerId> chosen;
  for (const ServerId server : plan.servers()) {
    if (!one_in(random, 3)) continue;
    zab::ServerSet left = plan.membership.voters();
    for (const ServerId gone : without) left.erase(gone);
    for (const ServerId gone : chosen) left.erase(gone);
    left.erase(server);
    if (plan.membership.is_quorum(left)) chosen.insert(server);
  }
  return chosen;
}

void choose_boot(Random& random, Plan& plan) {
  plan.boot.timed = !one_in(random, 4);
  plan.start_spread = pick<Micros>(random, {0, 50, 300, 1000, 1000, 5000, 30'000}) * kMillisecond;
  if (one_in(random, 2)) plan.boot.late = some_of(random, plan, {});
  // A history that all but some have is safe with those that have it; an empty history is everybody's.
  if (one_in(random, 2))
    plan.boot.wiped = some_of(random, plan, raw(plan.begins_at) == 0 ? std::set<ServerId>{} : plan.boot.late);
  if (!plan.boot.timed || plan.boot.late.empty() || !one_in(random, 3)) return;
  const ServerId stranger = *plan.boot.late.begin();
  if (!plan.membership.is_voter(stranger)) return;
  plan.boot.stranger = stranger;
  // Often one that looks like a part of the others' history.
  plan.boot.strange_history =
      Zxid{pick<std::int64_t>(random, {1, 1, 1, 2, 7, 1000}) << 32 | between(random, 1, 40)};
}

void choose_intruder(Random& random, Plan& plan) {
  if (!one_in(random, 4)) return;
  plan.intruder.every = plan.timing.tick_ms * kMillisecond * pick<std::int64_t>(random, {1, 4, 20}) / 4;
  plan.intruder.disturbs = one_in(random, 2);
}

void choose_reconfig(Random& random, Plan& plan) {
  if (plan.standalone || plan.spoiled_states || !one_in(random, 3)) return;
  plan.leader_serves = true;  // It may be the only member.
  plan.reconfig.every = plan.init_time() * pick<std::int64_t>(random, {1, 2, 10}) / 2;
  if (!plan.membership.groups().empty()) return;  // A new voter would need a group.
  const std::int64_t last = plan.voters + plan.observers;
  for (std::int64_t i = 1; i <= between(random, 0, 2); ++i) plan.reconfig.joining.insert(ServerId{last + i});
}

void make_standalone(Plan& plan) {
  plan.standalone = true;
  plan.leader_serves = true;
  plan.local_sessions = false;
  plan.intruder = {};
  plan.last_counter = Plan{}.last_counter;
}

}  // namespace

std::vector<ServerId> Plan::servers() const {
  std::vector<ServerId> all(membership.voters().begin(), membership.voters().end());
  all.insert(all.end(), membership.observers().begin(), membership.observers().end());
  all.insert(all.end(), reconfig.joining.begin(), reconfig.joining.end());
  return all;
}

zab::Membership Plan::file_of(ServerId server) const {
  zab::Membership members = membership;
  if (reconfig.joining.contains(server)) members.add(simulated_server(server));
  return members;
}

Plan plan_of(std::uint64_t seed) {
  Plan plan;
  plan.seed = seed;
  Random random(seed * 0x2545'F491'4F6C'DD1DULL + 1);
  choose_sizes(random, plan);
  choose_membership(random, plan);
  choose_disk(random, plan);
  choose_network(random, plan);
  choose_faults(random, plan);
  choose_windows(random, plan);
  plan.local_sessions = one_in(random, 6);
  choose_slow_states(random, plan);
  plan.timing.silence_limit_ms = plan.timing.tick_ms * pick<std::int64_t>(random, {0, 1, 2});
  if (one_in(random, 4)) plan.txn_bytes_max = pick<std::size_t>(random, {250, 500, 1000});
  choose_boot(random, plan);
  choose_intruder(random, plan);
  plan.lists_in_pieces = seed % 8 == 0;
  if (seed % 2 == 0) plan.disk.snap_bytes = 100 * plan.disk.snap_count;
  if (plan.servers().size() == 1 && seed % 3 != 0) make_standalone(plan);
  choose_reconfig(random, plan);
  plan.disk.snapshot_size_factor = pick<double>(random, {-1, -1, 0, 0, 0.33, 1});
  return plan;
}

// Two seconds, plus what slow links and disks add: an election, a handshake and their disk orders.
Micros Plan::boot_time() const { return 2 * kSecond + 20 * network.delay_high + 12 * disk.order_high; }

Plan calm_plan(std::uint64_t seed, int voters) {
  Plan plan;
  plan.seed = seed;
  plan.voters = voters;
  plan.timing = {.tick_ms = 200, .init_limit_ticks = 10, .sync_limit_ticks = 5};
  add_servers(plan);
  return plan;
}

std::string Plan::describe() const {
  std::string text =
      (standalone ? "standalone" : std::to_string(voters) + " voters") + ", " + std::to_string(observers) +
      " observers, " + std::to_string(clients) + " clients, tick " + std::to_string(timing.tick_ms) +
      " ms, init " + std::to_string(timing.init_limit_ticks) + ", sync " +
      std::to_string(timing.sync_limit_ticks) + ", window " + std::to_string(window.txns) +
      (windows.empty() ? "" : " or other") + (disk.snapshot_size_factor < 0 ? "" : " or the log") +
      ", snapshot every " + std::to_string(disk.snap_count) + ", epoch ends at " +
      std::to_string(last_counter) + ", begins at " + std::to_string(raw(begins_at)) + ", " +
      std::to_string(ops_per_second) + " op/s";
  if (boot.timed) text += ", timed boot";
  const auto list = [&](const char* what, const std::set<ServerId>& servers) {
    if (servers.empty()) return;
    text += std::string(", ") + what;
    for (const ServerId server : servers) text += " " + std::to_string(raw(server));
  };
  list("late", boot.late);
  list("wiped", boot.wiped);
  if (boot.stranger)
    text += ", stranger " + std::to_string(raw(*boot.stranger)) + " at " +
            std::to_string(raw(boot.strange_history));
  const auto add = [&](const char* name, std::uint32_t n) {
    if (n > 0) text += std::string(" ") + name + ":" + std::to_string(n);
  };
  list("joining", reconfig.joining);
  if (may_reconfigure())
    text += ", reconfigured every " + std::to_string(reconfig.every / kMillisecond) + " ms";
  if (local_sessions) text += ", local sessions";
  if (network.state_time > 0)
    text += ", SNAP in " + std::to_string(network.state_time / kMillisecond) + " ms";
  if (has_small_txns()) text += ", transactions of " + std::to_string(txn_bytes_max) + " bytes";
  if (intruder.every > 0)
    text += std::string(intruder.disturbs ? ", a troublesome" : ", a harmless") + " intruder every " +
            std::to_string(intruder.every / kMillisecond) + " ms";
  text += "; faults every " + std::to_string(faults.every / kMillisecond) + " ms:";
  add("crash", faults.crash);
  add("power", faults.power_loss);
  add("leader", faults.crash_leader);
  add("all", faults.crash_all);
  add("pause", faults.pause);
  add("reset", faults.reset);
  add("client", faults.reset_client);
  add("partition", faults.partition);
  add("wall", faults.wall_jump);
  add("eio", faults.io_error);
  add("full", faults.disk_full);
  add("slow", faults.slow_disk);
  add("send", faults.crash_at_send);
  add("dark", faults.in_the_dark);
  add("damage", faults.damage);
  add("wipe", faults.wipe);
  return text;
}

}  // namespace drover::sim
