// SPDX-License-Identifier: Apache-2.0
//
// What one seed means: the size of the cluster, its timeouts, how its files are cut, and its faults.
//
// Each seed turns some kinds of faults off completely, because faults hide each other: a run in which
// everything happens rarely gets far in anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sim/election_net.h"
#include "sim/network.h"
#include "sim/world.h"
#include "state/options.h"
#include "zab/history.h"
#include "zab/membership.h"
#include "zab/timing.h"

namespace drover::sim {

struct DiskPlan {
  Micros order_low = 50;
  Micros order_high = 20 * kMillisecond;
  std::int64_t snap_count = 100;  // transactions between snapshots
  std::int64_t snap_bytes = 0;    // the same in bytes; 0: only the count matters
  std::uint64_t preallocate_bytes = 4096;
  std::uint64_t log_size_limit_bytes = 0;
  std::size_t snapshots_kept = 3;
  Micros purge_every = 0;  // 0: never
  std::size_t snapshot_step_nodes = 4;
  double snapshot_size_factor = -1;  // negative: no DIFF from the log files; 0: whatever their size is
};

// The faults that may happen, each with its share; 0: never. `every` is the average calm time.
struct FaultPlan {
  Micros every = 2 * kSecond;
  std::uint32_t crash = 0;         // a process ends and is started again
  std::uint32_t power_loss = 0;    // the same for its machine, in the middle of a disk operation or silently
  std::uint32_t crash_leader = 0;  // the current leader
  std::uint32_t crash_all = 0;
  std::uint32_t pause = 0;
  std::uint32_t reset = 0;         // a connection between servers
  std::uint32_t reset_client = 0;  // a connection of a client
  std::uint32_t partition = 0;
  std::uint32_t wall_jump = 0;
  std::uint32_t io_error = 0;  // the next write, sync or rename of a server fails
  std::uint32_t disk_full = 0;
  std::uint32_t slow_disk = 0;
  std::uint32_t crash_at_send = 0;
  std::uint32_t damage = 0;       // bits and sectors of a stopped server
  std::uint32_t in_the_dark = 0;  // all servers leave a leader, and it does not notice
  std::uint32_t wipe = 0;         // a server comes back with an empty disk

  std::uint32_t total() const {
    return crash + power_loss + crash_leader + crash_all + pause + reset + reset_client + partition +
           wall_jump + io_error + disk_full + slow_disk + crash_at_send + in_the_dark + damage + wipe;
  }
};

// A server's line in the membership. Addresses only have to differ: the network knows servers by their ids.
inline zab::PeerSpec simulated_server(ServerId id, zab::PeerType type = zab::PeerType::kParticipant) {
  const std::string host = "server" + std::to_string(raw(id));
  return {.id = id, .addresses = {{host, 2888, 3888}}, .type = type, .client = zab::Endpoint{host, 2181}};
}

// How the servers are started for the first time.
struct BootPlan {
  // No faults until all started servers serve, and that must be soon.
  bool timed = false;
  // Servers that start later, when the others have served for a while. The others are a quorum without them.
  std::set<ServerId> late;
  // Servers with an empty disk although the others have an old history, or the operator's mark that theirs is
  // new.
  std::set<ServerId> wiped;
  // One of the late voters has transactions of another history: that of an ensemble whose other disks were
  // lost. It must stop and keep its data.
  std::optional<ServerId> stranger;
  Zxid strange_history{};  // its end
};

// An attacker on the ports between servers that is none of them (sim/intruder).
struct IntruderPlan {
  Micros every = 0;       // how often it does something, on average; 0: there is none
  bool disturbs = false;  // it also does what may keep the ensemble from serving while it is there
};

// An operator who changes the members while all this happens (sim/cluster_reconfig.cc).
struct ReconfigPlan {
  Micros every = 0;            // on average; 0: the members stay
  std::set<ServerId> joining;  // servers that are there, and no members at first
};

struct Plan {
  std::uint64_t seed = 0;
  int voters = 3;
  int observers = 0;
  int clients = 3;
  bool standalone = false;  // the only voter is no ensemble: no elections, no epochs
  zab::Membership membership;
  zab::Timing timing;
  zab::WindowLimits window;
  // For servers that differ: a server that holds more can ask another to cut off what that one has forgotten.
  std::map<ServerId, zab::WindowLimits> windows;
  DiskPlan disk;
  NetworkPlan network;
  ElectionNetPlan election;
  BootPlan boot;
  FaultPlan faults;
  IntruderPlan intruder;
  ReconfigPlan reconfig;
  std::size_t fronts = 1;
  bool lists_in_pieces = false;  // every getChildren of several children is copied child by child
  bool leader_serves = true;
  bool local_sessions = false;  // a session is global only from its first ephemeral node on
  bool clock_drift = false;
  bool spoiled_states = false;  // digests in the logs may be wrong
  bool initialized = true;      // empty disks carry the operator's mark that they are meant to be empty
  Zxid begins_at{};             // the history's end before the first start
  std::uint32_t last_counter = 0xffff'fffe;  // an epoch has no more transactions than this
  // Small in some seeds: then values are near the limit, and sessions own more nodes than one transaction can
  // list.
  std::size_t txn_bytes_max = state::Options{}.txn_bytes_max;
  bool has_small_txns() const { return txn_bytes_max < state::Options{}.txn_bytes_max; }
  Micros safety_time = 60 * kSecond;
  Micros start_spread = kSecond;     // time span in which servers and clients are started
  std::int64_t ops_per_second = 50;  // of all clients together
  std::int32_t session_timeout_ms = 10'000;

  std::vector<ServerId> servers() const;
  const zab::WindowLimits& window_of(ServerId server) const {
    const auto found = windows.find(server);
    return found == windows.end() ? window : found->second;
  }
  bool may_reconfigure() const { return reconfig.every > 0; }
  // The members in the file of a server: a server that wants to join lists itself, too.
  zab::Membership file_of(ServerId server) const;
  bool has_short_epochs() const { return last_counter < 0xffff'fffe; }
  Micros init_time() const { return timing.init_ms() * kMillisecond; }
  // Within this time a quorum of voters must serve once it is up, if there are no faults.
  Micros boot_time() const;
  // One line for people.
  std::string describe() const;
};

Plan plan_of(std::uint64_t seed);
// No faults and average numbers, for tests that bring their own.
Plan calm_plan(std::uint64_t seed, int voters);

}  // namespace drover::sim
