// SPDX-License-Identifier: Apache-2.0
#include "sim/recipe_cluster.h"

#include <algorithm>

#include "client/public_stat.h"
#include "sim/server.h"

namespace drover::sim {
namespace {

constexpr std::int64_t kTickMs = 500;

Plan recipe_plan(std::uint64_t seed, int servers) {
  Plan plan = calm_plan(seed, servers);
  plan.timing.tick_ms = kTickMs;
  plan.standalone = servers == 1;
  return plan;
}

// Recipes are judged by what they leave in the tree; the cluster's own tests judge the servers.
class Unobserved final : public ServerObserver {
  void on_known(std::string_view) override {}
  void on_state(ServerId, const state::Machine&, bool) override {}
  void on_applied(ServerId, Zxid, std::string_view, std::optional<std::uint64_t>, bool) override {}
  void on_standalone(ServerId, Zxid) override {}
  void on_established(ServerId, std::uint32_t, Zxid) override {}
  void on_step(const zab::Peer&) override {}
};

}  // namespace

struct RecipeCluster::Parts {
  Parts(std::uint64_t seed, int count)
      : plan(recipe_plan(seed, count)),
        world(seed),
        network(world, plan.network),
        election(world, network, plan.election) {
    for (const ServerId id : plan.servers()) {
      servers.push_back(std::make_unique<SimServer>(
          SimServer::Parts{
              .world = world, .network = network, .election = election, .plan = plan, .observer = nobody},
          id));
      hosts.push_back(host_of(id));
    }
  }
  SimServer* leader() const {
    for (const auto& each : servers) {
      if (each->is_up() && each->process()->has_member() && each->process()->is_leading()) return each.get();
    }
    return nullptr;
  }
  // The state of the server that has applied the most: a leader with a slow disk is behind its followers.
  const state::Machine* newest() const {
    const state::Machine* found = nullptr;
    for (const auto& each : servers) {
      if (!each->is_up() || !each->process()->has_member() || !each->process()->is_serving()) continue;
      const state::Machine& machine = each->process()->machine();
      if (!found || machine.last_zxid > found->last_zxid) found = &machine;
    }
    return found;
  }
  const state::Tree* tree() const {
    const state::Machine* machine = newest();
    return machine ? &machine->tree : nullptr;
  }
  const state::Node* node(const std::string& path) const { return tree() ? tree()->get(path) : nullptr; }

  Plan plan;
  World world;
  Network network;
  ElectionNet election;
  Unobserved nobody;
  std::vector<std::unique_ptr<SimServer>> servers;
  std::vector<HostId> hosts;
};

RecipeCluster::RecipeCluster(std::uint64_t seed, int servers)
    : parts_(std::make_unique<Parts>(seed, servers)) {
  start_all();
}
RecipeCluster::~RecipeCluster() = default;

World& RecipeCluster::world() { return parts_->world; }
Network& RecipeCluster::network() { return parts_->network; }
const std::vector<HostId>& RecipeCluster::hosts() const { return parts_->hosts; }
std::int64_t RecipeCluster::timeout_min_ms() const { return 2 * kTickMs; }
std::int64_t RecipeCluster::timeout_max_ms() const { return 20 * kTickMs; }

bool RecipeCluster::is_serving() const {
  return parts_->leader() &&
         std::all_of(parts_->servers.begin(), parts_->servers.end(), [](const auto& each) {
           return !each->is_up() || (each->process()->has_member() && each->process()->is_serving());
         });
}

void RecipeCluster::restart_leader(Micros pause) {
  SimServer* old = parts_->leader();
  if (!old) return;
  old->crash(Farewell::kReset, storage::Survival::kKeep);
  parts_->world.after(pause, [old] { old->start(); });
}

void RecipeCluster::start_all() {
  for (const auto& each : parts_->servers) each->start();
}

std::optional<Stat> RecipeCluster::stat(const std::string& path) const {
  const state::Node* node = parts_->node(path);
  if (!node) return std::nullopt;
  return client::public_stat(parts_->tree()->stat(*node));
}

std::optional<std::string> RecipeCluster::data(const std::string& path) const {
  const state::Node* node = parts_->node(path);
  if (!node) return std::nullopt;
  return std::string(node->data().value_or(std::string_view{}));
}

std::vector<std::string> RecipeCluster::children(const std::string& path) const {
  std::vector<std::string> names;
  const state::Node* node = parts_->node(path);
  if (!node) return names;
  for (state::NodeRef ref = node->first_child; ref != state::kNoNode;) {
    const state::Node& child = parts_->tree()->at(ref);
    names.emplace_back(child.name());
    ref = child.next_sibling;
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::size_t RecipeCluster::descendants(const std::string& path) const {
  const state::Node* node = parts_->node(path);
  return node ? parts_->tree()->below(parts_->tree()->find(path)).nodes : 0;
}

bool RecipeCluster::has_session(SessionId session) const {
  const state::Machine* machine = parts_->newest();
  return machine && machine->sessions.contains(session);
}

std::size_t RecipeCluster::watches() const {
  std::size_t count = 0;
  for (const auto& each : parts_->servers) {
    if (!each->is_up()) continue;
    for (std::size_t i = 0; i < each->process()->front_count(); ++i)
      count += each->process()->front(i).watches().watch_count();
  }
  return count;
}

}  // namespace drover::sim
