// SPDX-License-Identifier: Apache-2.0
#include "sim/recipe_world.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "sim/recipe_client.h"
#include "sim/recipe_cluster.h"

namespace drover::sim {
namespace {

constexpr std::uint32_t kFirstKiller = 1000;

Micros micros(RecipeWorld::Time time) { return time.count() * kMillisecond; }

}  // namespace

struct RecipeWorld::Parts {
  explicit Parts(const Options& given)
      : options(given), cluster(given.seed, given.servers), clock([this] {
          const std::int64_t ms = RecipeClient::kBootMs + cluster.world().now() / kMillisecond;
          return drover::Clock::time_point(std::chrono::milliseconds(ms));
        }) {}

  RecipeClient::Parts shared() {
    return {.world = cluster.world(), .network = cluster.network(), .servers = cluster.hosts()};
  }
  RecipeClient& client(std::size_t i) const { return *clients.at(i); }

  Options options;
  RecipeCluster cluster;
  ClockOverride clock;
  std::vector<std::unique_ptr<RecipeClient>> clients;
  std::vector<std::unique_ptr<SessionKiller>> killers;
};

RecipeWorld::RecipeWorld(const Options& options) : parts_(std::make_unique<Parts>(options)) {
  wait_for_leader();
  for (int i = 0; i < options.clients; ++i) add_client();
}

RecipeWorld::~RecipeWorld() {
  parts_->killers.clear();
  parts_->cluster.network().heal();
  parts_->cluster.start_all();
  for (const auto& each : parts_->clients) {
    each->disarm();
    if (each->has_client()) drover::start(each->client().close());
    each->let_go();
  }
  run_until([this] {
    return std::all_of(parts_->clients.begin(), parts_->clients.end(),
                       [](const auto& each) { return each->is_over(); });
  });
}

Client& RecipeWorld::client(std::size_t i) { return parts_->client(i).client(); }

std::size_t RecipeWorld::add_client() {
  const std::size_t i = parts_->clients.size();
  const HostId host{static_cast<std::uint32_t>(kFirstClient + i)};
  client::EngineOptions options;
  options.session.servers = parts_->cluster.hosts().size();
  options.session.seed = parts_->cluster.world().fork(1000 + i).next();
  options.session.timeout_ms = static_cast<std::int32_t>(parts_->options.session_timeout.count());
  options.reopen = parts_->options.reopen;
  parts_->clients.push_back(std::make_unique<RecipeClient>(parts_->shared(), host, options));
  const bool connected = run_until([&] { return client(i).state() == ConnectionState::kConnected; });
  ENSURE(connected, "a client of calm servers is connected before long");
  return i;
}

void RecipeWorld::let_go(std::size_t i) {
  parts_->client(i).let_go();
  settle();
}

void RecipeWorld::run_on(std::size_t i, std::move_only_function<void()> work) {
  parts_->client(i).run(std::move(work));
}

// --- time ---

void RecipeWorld::settle() {
  for (const auto& each : parts_->clients) each->settle();
}

void RecipeWorld::run_for(Time time) {
  settle();
  World& world = parts_->cluster.world();
  world.run_until(world.now() + micros(time));
  settle();
}

bool RecipeWorld::run_until(const std::function<bool()>& reached, Time limit) {
  settle();
  World& world = parts_->cluster.world();
  const Micros end = world.now() + micros(limit);
  while (!reached()) {
    if (world.now() > end || !world.step()) return false;
  }
  return true;
}

RecipeWorld::Time RecipeWorld::now() const { return Time(parts_->cluster.world().now() / kMillisecond); }

void RecipeWorld::after(Time time, std::function<void()> work) {
  parts_->cluster.world().after(micros(time), [this, work = std::move(work)] {
    work();
    settle();
  });
}

// --- faults ---

void RecipeWorld::lose_reply(std::size_t i, std::string op, int nth) {
  parts_->client(i).lose_reply(std::move(op), nth);
}
void RecipeWorld::lose_request(std::size_t i, std::string op, int nth) {
  parts_->client(i).lose_request(std::move(op), nth);
}
void RecipeWorld::at_request(std::size_t i, std::string op, int nth, std::function<void()> then) {
  parts_->client(i).at_request(std::move(op), nth, [this, then = std::move(then)] {
    then();
    settle();
  });
}
bool RecipeWorld::has_traps(std::size_t i) const { return parts_->client(i).has_traps(); }
void RecipeWorld::disarm(std::size_t i) { parts_->client(i).disarm(); }
void RecipeWorld::disconnect(std::size_t i) { parts_->client(i).disconnect(); }

void RecipeWorld::set_cut(std::size_t i, bool cut) {
  const HostId mine = parts_->client(i).host();
  for (const HostId server : parts_->cluster.hosts()) {
    parts_->cluster.network().set_cut(mine, server, cut);
    parts_->cluster.network().set_cut(server, mine, cut);
  }
}
void RecipeWorld::cut(std::size_t i) { set_cut(i, true); }
void RecipeWorld::heal(std::size_t i) { set_cut(i, false); }
void RecipeWorld::cut_for(std::size_t i, Time time) {
  cut(i);
  run_for(time);
  heal(i);
}

void RecipeWorld::cut_off_server_of(std::size_t i) {
  Network& network = parts_->cluster.network();
  const HostId alone = parts_->client(i).server();
  for (const HostId other : parts_->cluster.hosts()) {
    if (other == alone) continue;
    network.set_cut(alone, other, true);
    network.set_cut(other, alone, true);
  }
}
void RecipeWorld::cut_off_with_server(std::size_t i) {
  cut_off_server_of(i);
  set_cut(i, true);
  Network& network = parts_->cluster.network();
  network.set_cut(parts_->client(i).host(), parts_->client(i).server(), false);
  network.set_cut(parts_->client(i).server(), parts_->client(i).host(), false);
}
void RecipeWorld::heal_all() { parts_->cluster.network().heal(); }

void RecipeWorld::kill_session(std::size_t i) {
  const HostId host{static_cast<std::uint32_t>(kFirstKiller + parts_->killers.size())};
  parts_->killers.push_back(std::make_unique<SessionKiller>(parts_->shared(), host, parts_->client(i).key()));
}

void RecipeWorld::restart_leader(Time pause) { parts_->cluster.restart_leader(micros(pause)); }

// --- observations ---

void RecipeWorld::wait_for_leader() {
  const bool serving = run_until([this] { return parts_->cluster.is_serving(); });
  ENSURE(serving, "calm servers elect a leader");
}

std::optional<Stat> RecipeWorld::stat(const std::string& path) {
  wait_for_leader();
  return parts_->cluster.stat(path);
}
bool RecipeWorld::exists(const std::string& path) { return stat(path).has_value(); }
std::optional<std::string> RecipeWorld::data(const std::string& path) {
  wait_for_leader();
  return parts_->cluster.data(path);
}
std::vector<std::string> RecipeWorld::children(const std::string& path) {
  wait_for_leader();
  return parts_->cluster.children(path);
}
std::size_t RecipeWorld::descendants(const std::string& path) {
  wait_for_leader();
  return parts_->cluster.descendants(path);
}
bool RecipeWorld::has_session(SessionId session) {
  wait_for_leader();
  return parts_->cluster.has_session(session);
}
std::size_t RecipeWorld::watches() const { return parts_->cluster.watches(); }

std::uint64_t RecipeWorld::requests(std::size_t i, const std::string& op) const {
  return op.empty() ? parts_->client(i).requests() : parts_->client(i).requests(op);
}
std::uint64_t RecipeWorld::watch_events(std::size_t i) const { return parts_->client(i).watch_events(); }
std::uint64_t RecipeWorld::watch_events() const {
  std::uint64_t all = 0;
  for (const auto& each : parts_->clients) all += each->watch_events();
  return all;
}

}  // namespace drover::sim
