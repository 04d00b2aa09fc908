// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster.h"

#include <algorithm>
#include <map>

#include "wire/jute.h"
#include "wire/records.h"
#include "wire/txns.h"

namespace drover::sim {
namespace {

// Far more than the epochs that histories begin with and the elections of a run need.
constexpr std::uint32_t kEpochsMax = 20'000;

// A transaction that changes nothing: replaces a history of which only the end matters.
std::string nothing_done_at(Zxid zxid) {
  std::string entry;
  wire::Writer w(entry);
  w.i64(0);
  w.i32(0);
  w.i64(raw(zxid));
  w.i64(Clock::kWallMs);
  w.i32(static_cast<std::int32_t>(wire::OpCode::kError));
  w.i32(static_cast<std::int32_t>(ErrorCode::kNoNode));
  return entry;
}

std::string describe_entry(std::string_view entry) {
  const auto txn = wire::decode_entry(entry);
  if (!txn) return "what nobody can read";
  std::string text = std::to_string(raw(txn->header.zxid)) + " type " +
                     std::to_string(static_cast<int>(txn->header.type)) + " of session " +
                     std::to_string(raw(txn->header.session)) + " cxid " + std::to_string(txn->header.cxid);
  // The only readable part of the rest are paths.
  for (const char c : entry.substr(wire::kTxnHeaderBytes)) {
    if (c >= ' ' && c <= '~') text += c;
  }
  return text;
}

template <class Visit>
void for_each_session(const Process& process, Visit visit) {
  for (std::size_t i = 0; i < process.front_count(); ++i) {
    process.front(i).for_each_connection([&](const replica::Front::ConnFacts& facts) {
      if (raw(facts.session) != 0) visit(facts.session);
    });
  }
}

// Connections count once they have a session. Sockets that never send anything do not count.
Leftovers leftovers(const Process& process) {
  Leftovers left;
  left.requests = process.member().replica().in_flight();
  for (std::size_t i = 0; i < process.front_count(); ++i)
    left.watches += process.front(i).watches().watch_count();
  for_each_session(process, [&](SessionId) { ++left.connections; });
  return left;
}

OracleOptions oracle_options(const Plan& plan) {
  OracleOptions options;
  options.local_sessions = plan.local_sessions;
  options.spoiled_states = plan.spoiled_states;
  options.state.hash_key = {plan.seed, 0};
  options.state.extended_types = true;
  options.state.txn_bytes_max = plan.txn_bytes_max;
  options.state.reconfig_enabled = options.state.skip_acl = plan.may_reconfigure();
  return options;
}

}  // namespace

Cluster::Cluster(const Plan& plan, const RunOptions& options)
    : plan_(plan),
      options_(options),
      world_(plan.seed),
      network_(world_, plan_.network),
      election_(world_, network_, plan_.election),
      nemesis_(world_, network_, election_, plan_, servers_),
      intruder_(world_, network_, election_, plan_, servers_),
      oracle_(oracle_options(plan)) {
  world_.set_tracing(options.trace);
  for (const ServerId id : plan_.servers()) {
    servers_.push_back(std::make_unique<SimServer>(
        SimServer::Parts{
            .world = world_, .network = network_, .election = election_, .plan = plan_, .observer = *this},
        id));
  }
}

Cluster::~Cluster() {
  clients_.clear();
  servers_.clear();  // They add their counts when they end.
  if (options_.tally) options_.tally->add(world_.tally());
}

bool Cluster::run() {
  world_.say(plan_.describe());
  start();
  if (plan_.boot.timed) boot();
  start_late();
  nemesis_.begin();
  intruder_.begin();
  begin_reconfiguring();
  run_for(plan_.safety_time);
  operator_random_.reset();
  heal();
  live();
  return !world_.failed();
}

void Cluster::heal() {
  intruder_.leave();
  nemesis_.heal();
}

SimServer& Cluster::server(ServerId id) {
  return **std::find_if(servers_.begin(), servers_.end(), [&](const auto& each) { return each->id() == id; });
}

SimServer* Cluster::leader() {
  for (const auto& each : servers_) {
    if (each->is_up() && each->process()->is_leading()) return each.get();
  }
  return nullptr;
}

void Cluster::start() {
  if (raw(plan_.begins_at) != 0) oracle_.begin_with(nothing_done_at(plan_.begins_at));
  Random random = world_.fork(4);
  for (const auto& server : servers_) {
    if (plan_.boot.late.contains(server->id())) continue;
    world_.after(between(random, 0, plan_.start_spread), [&server] { server->start(); });
  }
  for (int i = 0; i < plan_.clients; ++i) {
    add_client(static_cast<std::uint32_t>(i));
    world_.after(between(random, 0, 2 * plan_.start_spread),
                 [client = clients_.back().get()] { client->start(); });
  }
}

void Cluster::add_client(std::uint32_t number) {
  Random random = world_.fork(1000 + number);
  WorkloadClientConfig config;
  config.seed = random.next();
  config.number = number;
  config.servers = plan_.servers();
  config.timeout_ms = plan_.session_timeout_ms;
  config.step_ms = std::max<std::int64_t>(1, 1000 * plan_.clients / plan_.ops_per_second);
  config.pipeline_max = static_cast<std::size_t>(between(random, 1, 16));
  config.workload.ttl_nodes = true;
  if (plan_.has_small_txns()) {
    config.workload.value_bytes_max = static_cast<std::uint32_t>(plan_.txn_bytes_max);
    config.workload.crowd_percent = 25;
  }
  // If all clients of a server want to write, there is soon an undecided write, and nothing behind it is
  // answered.
  if (one_in(random, 3)) config.workload.write_percent = 3;
  if (one_in(random, 3)) config.workload.move_in = static_cast<std::uint32_t>(between(random, 10, 200));
  if (one_in(random, 3)) config.resume_timeout_max_ms = static_cast<std::int32_t>(20 * plan_.timing.tick_ms);
  clients_.push_back(std::make_unique<SimClient>(
      SimClient::Parts{.world = world_, .network = network_, .oracle = oracle_}, config));
}

void Cluster::live() {
  // An epoch of some dozen transactions may end before a learner has got the state, over and over, for as
  // long as clients write. A real epoch of four thousand million does not. So here the clients stop after a
  // while.
  if (plan_.has_short_epochs()) {
    run_until(patience(), [this] { return everybody_serves(); });
    for (const auto& client : clients_) client->rest();
  }
  if (!run_until(patience(), [this] { return everybody_serves(); })) {
    if (world_.failed()) return;
    if (is_quorum_lost()) return world_.count(Did::kQuorumLost);
    world_.fail("not within " + std::to_string(patience() / kSecond) +
                " s: a leader serves, and everybody follows; " + situation());
  }
  for (const auto& client : clients_) client->rest();
  wait_until(patience(), "every call has ended", [this] {
    return std::all_of(clients_.begin(), clients_.end(),
                       [](const auto& client) { return client->client().outstanding() == 0; });
  });
  try_a_new_client();
  wait_until(patience(), "all servers hold the same state", [this] { return everybody_level(); });
  if (world_.failed()) return;
  for (const auto& each : servers_) oracle_.on_settled(each->id(), each->process()->machine());
  judge();
  keep_sessions();
  drain();
}

// No client sends requests, but those that are connected ping, wherever they are, and must stay. There are
// two exceptions. An election sends clients elsewhere, and they may not arrive within a timeout of a few
// ticks; there may be one, because the end of old sessions can use up an epoch. And a session that only its
// server knows does not move at all.
void Cluster::keep_sessions() {
  std::vector<std::pair<const SimClient*, std::uint64_t>> there;
  const auto& known = servers_.front()->process()->machine().sessions;  // all servers are synced
  for (const auto& client : clients_) {
    if (client->client().is_connected() && !client->client().is_closing() &&
        known.contains(client->client().session()))
      there.emplace_back(client.get(), client->client().sessions());
  }
  const std::uint64_t reigns = reigns_;
  run_for(std::max(4 * std::int64_t{plan_.session_timeout_ms}, 24 * plan_.timing.tick_ms) * kMillisecond);
  const bool moved = plan_.has_short_epochs() && reigns_ != reigns;
  for (const auto& [client, sessions] : there) {
    if (!moved && client->client().sessions() != sessions)
      world_.fail("I8: the session of " + client->describe() + " has expired though it was there");
  }
  look_for_left_connections();
}

// A session uses one connection. All connections that it has left are closed by now.
void Cluster::look_for_left_connections() {
  std::map<SessionId, int> connections;
  for (const auto& server : servers_) {
    if (!server->is_up()) continue;
    for_each_session(*server->process(), [&](SessionId session) {
      if (++connections[session] > 1)
        world_.fail("I13: session " + std::to_string(raw(session)) + " has left a connection behind");
    });
  }
}

void Cluster::try_a_new_client() {
  add_client(static_cast<std::uint32_t>(clients_.size()));
  SimClient& probe = *clients_.back();
  probe.rest();
  probe.start();
  wait_until(patience(), "a new session begins", [&] { return probe.client().is_connected(); });
  const std::uint64_t answered = probe.client().answered();
  std::string body;
  wire::Writer w(body);
  w.string("/k0");
  w.buffer("probe");
  w.i32(-1);
  wait_until(patience(), "a new write is answered", [&] {
    // An epoch may end right then: a client without an answer asks again.
    if (probe.client().is_connected() && probe.client().outstanding() == 0)
      probe.probe(wire::OpCode::kSetData, body);
    return probe.client().answered() > answered;
  });
}

// All clients leave, and nothing of them may be left.
void Cluster::drain() {
  for (const auto& client : clients_) client->leave();
  wait_until(patience() + 3 * plan_.session_timeout_ms * kMillisecond,
             "nothing is left of clients that have left", [this] { return everything_drained(); });
  if (world_.failed()) return;
  for (const auto& each : servers_) {
    oracle_.on_drained(each->id(), each->process()->machine(), leftovers(*each->process()));
  }
  judge();
}

void Cluster::run_for(Micros time) {
  const Micros end = world_.now() + time;
  if (!options_.until) return world_.run_until(end);
  while (!world_.failed() && world_.now() < end) {
    if (world_.events() >= *options_.until)
      return world_.fail("stopped as told, at event " + std::to_string(world_.events()) + ": " + situation());
    if (!world_.step()) return;
  }
}

bool Cluster::run_until(Micros time, const std::function<bool()>& reached) {
  const Micros end = world_.now() + time;
  while (!world_.failed() && !reached()) {
    if (world_.now() >= end) return false;
    run_for(100 * kMillisecond);
  }
  return true;
}

void Cluster::wait_until(Micros time, const std::string& what, const std::function<bool()>& reached) {
  if (!run_until(time, reached))
    world_.fail("not within " + std::to_string(time / kSecond) + " s: " + what + "; " + situation());
}

bool Cluster::everybody_serves() const {
  int leaders = 0;
  for (const auto& server : servers_) {
    if (!server->is_up() || !server->process()->has_member()) return false;
    if (!server->process()->is_serving() && !is_removed(*server)) return false;
    leaders += server->process()->is_leading() ? 1 : 0;
  }
  return leaders == 1;
}

bool Cluster::everybody_level() const {
  if (!everybody_serves()) return false;
  const state::Machine& first = servers_.front()->process()->machine();
  return std::all_of(servers_.begin(), servers_.end(), [&](const auto& server) {
    const state::Machine& machine = server->process()->machine();
    return machine.last_zxid == first.last_zxid && machine.tree.digest() == first.tree.digest();
  });
}

bool Cluster::everything_drained() const {
  if (!everybody_level()) return false;
  const bool all_gone = std::all_of(clients_.begin(), clients_.end(),
                                    [](const auto& client) { return client->client().is_gone(); });
  return all_gone && std::all_of(servers_.begin(), servers_.end(), [](const auto& server) {
           // What is still under way may come from the servers themselves: containers and nodes whose time is
           // over.
           const Process& process = *server->process();
           const replica::Replica& replica = process.member().replica();
           const Leftovers left = leftovers(process);
           return process.machine().sessions.empty() && replica.local_session_count() == 0 &&
                  left.requests == 0 && left.watches == 0 && left.connections == 0;
         });
}

std::string Cluster::situation() const {
  std::string text;
  for (const auto& server : servers_) {
    text += "[" + std::to_string(raw(server->id())) + ": ";
    if (!server->is_up()) {
      text += "down] ";
      continue;
    }
    const zab::Peer& peer = server->process()->member().peer();
    constexpr const char* kRoles[] = {"looking", "following", "leading", "observing"};
    text += std::string(kRoles[static_cast<int>(peer.role())]) +
            (server->process()->is_serving() ? " serving" : "") + (server->is_paused() ? " paused" : "") +
            (peer.knows_history() ? "" : " recovering") + " epoch " + std::to_string(peer.current_epoch()) +
            "/" + std::to_string(peer.accepted_epoch()) + " last " +
            std::to_string(raw(peer.history().last())) + " applied " +
            std::to_string(raw(server->process()->machine().last_zxid)) + " open orders " +
            std::to_string(peer.orders_open()) + " members " + std::to_string(peer.membership().version()) +
            (peer.memberships().proposed() ? "/" + std::to_string(peer.memberships().proposed()->version())
                                           : "") +
            (peer.role() == zab::Role::kLooking
                 ? " votes for " + std::to_string(raw(peer.election().proposal().leader)) + " in round " +
                       std::to_string(peer.election().round())
                 : "") +
            "; " + peer.why_looking() + "] ";
  }
  for (const auto& client : clients_) {
    if (client->client().outstanding() > 0 || !client->client().is_connected())
      text += "[" + client->describe() + "] ";
  }
  return text;
}

std::uint64_t Cluster::operations() const { return oracle_.calls(); }

// --- reports of servers ---

void Cluster::judge() {
  if (oracle_.ok() || world_.failed()) return;
  std::string why = oracle_.failures().front();
  for (std::size_t i = 1; i < std::min<std::size_t>(oracle_.failures().size(), 5); ++i)
    why += "\n    then: " + oracle_.failures()[i];
  world_.fail(why);
}

void Cluster::on_known(std::string_view entry) { oracle_.on_known(entry); }

void Cluster::on_state(ServerId server, const state::Machine& machine, bool exact) {
  oracle_.set_now({world_.now() / kMillisecond});
  oracle_.on_state(server, machine, exact);
  judge();
}

void Cluster::on_applied(ServerId server, Zxid zxid, std::string_view entry,
                         std::optional<std::uint64_t> digest, bool serving) {
  oracle_.set_now({world_.now() / kMillisecond});
  if (world_.tracing())
    world_.say("server " + std::to_string(raw(server)) + ": applies " + describe_entry(entry));
  oracle_.on_applied(server, zxid, entry, digest, serving);
  judge();
}

void Cluster::on_step(const zab::Peer& peer) {
  peers_.clear();
  for (const auto& server : servers_) {
    if (server->is_up() && server->process()->has_member())
      peers_.push_back(&server->process()->member().peer());
  }
  std::string broken = invariants_.after_step(peer, peers_);
  if (!broken.empty()) world_.fail("Zab: " + std::move(broken));
  if (peer.accepted_epoch() > kEpochsMax)
    world_.fail("epochs are burnt: server " + std::to_string(raw(peer.config().me)) + " has promised " +
                std::to_string(peer.accepted_epoch()));
}

void Cluster::on_standalone(ServerId server, Zxid last) {
  oracle_.set_now({world_.now() / kMillisecond});
  oracle_.on_standalone(server, last);
  judge();
}

void Cluster::on_established(ServerId server, std::uint32_t epoch, Zxid last) {
  if (world_.tracing())
    world_.say("server " + std::to_string(raw(server)) + ": leads epoch " + std::to_string(epoch) + " from " +
               std::to_string(raw(last)));
  oracle_.set_now({world_.now() / kMillisecond});
  ++reigns_;
  oracle_.on_established(server, epoch, last);
  judge();
}

}  // namespace drover::sim
