// SPDX-License-Identifier: Apache-2.0
//
// The server side of a recipe's world: simulated servers on their own network, their faults, and a look into
// their trees.
//
// The library's Result and the servers' are two types that cannot be used in one file. So code above this
// sees servers only through this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "drover/types.h"
#include "sim/network.h"
#include "sim/world.h"

namespace drover::sim {

class RecipeCluster {
 public:
  RecipeCluster(std::uint64_t seed, int servers);
  ~RecipeCluster();
  RecipeCluster(const RecipeCluster&) = delete;
  RecipeCluster& operator=(const RecipeCluster&) = delete;

  World& world();
  Network& network();
  const std::vector<HostId>& hosts() const;
  // The smallest and the largest session timeout that its servers grant.
  std::int64_t timeout_min_ms() const;
  std::int64_t timeout_max_ms() const;

  bool is_serving() const;  // there is a leader, and all running servers follow
  // Stops the leader, and starts it again after `pause`.
  void restart_leader(Micros pause);
  void start_all();

  // --- observations of the newest tree that a server shows ---
  std::optional<Stat> stat(const std::string& path) const;
  std::optional<std::string> data(const std::string& path) const;
  std::vector<std::string> children(const std::string& path) const;  // sorted
  std::size_t descendants(const std::string& path) const;
  bool has_session(SessionId session) const;
  std::size_t watches() const;  // at all servers

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace drover::sim
