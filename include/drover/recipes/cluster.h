// SPDX-License-Identifier: Apache-2.0
//
// The members of a cluster: which are up, the task of each, and its progress.
//
//   ClusterMember me(client, "/cluster", "host-7");                   // in each process
//   unwrap(sync_wait(me.start(wait)));
//   Command command = unwrap(sync_wait(me.next_command(wait)));       // {"drain", generation 3}
//   me.report("draining", command.generation);
//
//   Cluster cluster(client, "/cluster", {.damping = 10s});            // in the one that leads
//   unwrap(sync_wait(cluster.start(wait)));
//   for (const ClusterNode& node : cluster.nodes()) use(node.id, node.liveness, node.status);
//   unwrap(sync_wait(cluster.command("host-7", "drain", {leader.check_op()}, wait)));
//
// A member watches only its own command; the leader watches everything with one watch. Commands have growing
// generations, so that both know which command a status is about. With a fence, a former leader commands
// nothing. A member that leaves is kSuspect for the damping time and then kDown, so that a restart is not a
// failure. A member whose beats stand still is kSuspect, too.
//
// Layout: <path>/live/<id> and <path>/status/<id> are ephemeral, <path>/desired/<id> is persistent.
//
// Curator: to be composed. kazoo: the same (PatientChildrenWatch for the damping).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/heartbeat.h"
#include "drover/recipes/node_cache.h"

namespace drover::recipes {

// A command or status: a word and the generation of the command. Stored as "<generation> <word>" in the
// tree.
struct Command {
  std::string word;
  std::uint64_t generation = 0;
  std::string to_text() const;
  static std::optional<Command> parse(std::string_view text);
  friend bool operator==(const Command&, const Command&) = default;
};

enum class Liveness : std::uint8_t { kUp, kSuspect, kDown };

struct ClusterNode {
  std::string id;
  Liveness liveness = Liveness::kDown;
  std::string info = {};                // last known info of its Heartbeat
  std::optional<Command> desired = {};  // none: no command
  std::optional<Command> status = {};   // none: no report, or it is absent
};

struct ClusterOptions {
  std::chrono::milliseconds damping{10'000};
  // Interval of the members' beats; zero: no beats are expected.
  std::chrono::milliseconds beat_every{0};
  int beats_missed_max = 3;
};

class Cluster {
 public:
  Cluster(Client client, std::string path, ClusterOptions options = {});

  // Starts, and returns when everything is known.
  Task<Result<void>> start(Wait wait = {}) const;
  // Gives a member a command; returns its generation. kBadVersion: another client has just given one.
  Task<Result<std::uint64_t>> command(std::string id, std::string word, std::vector<Op> fence = {},
                                      Wait wait = {}) const;

  // --- safe to call from any thread ---
  std::vector<ClusterNode> nodes() const;  // sorted by id
  bool is_fresh() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

class ClusterMember {
 public:
  ClusterMember(Client client, std::string path, std::string id, HeartbeatOptions options = {});

  Task<Result<void>> start(Wait wait = {});
  // The newest command that it has not returned yet; some may be skipped.
  Task<Result<Command>> next_command(Wait wait = {});
  void report(std::string word, std::uint64_t generation);
  void beat() { heart_.beat(); }
  bool is_there() const { return heart_.is_there(); }

 private:
  Heartbeat heart_;
  PersistentNode status_;
  std::shared_ptr<NodeCache> desired_;
};

}  // namespace drover::recipes
