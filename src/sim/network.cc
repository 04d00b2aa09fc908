// SPDX-License-Identifier: Apache-2.0
#include "sim/network.h"

#include <algorithm>

#include "base/ensure.h"

namespace drover::sim {

// --- connecting: the side that dials is side 0 ---

SocketId Network::dial(HostId from, HostId to, Port port) {
  const std::uint64_t id = ++next_;
  Connection& c = connections_[id];
  c.port = port;
  c.hosts[0] = from;
  c.hosts[1] = to;
  c.open[1] = false;
  world_.after(delay(), [this, id] { on_syn(id); });
  return socket(id, 0);
}

void Network::on_syn(std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& c = found->second;
  if (!c.open[0]) {
    connections_.erase(found);
    return;
  }
  const bool lost =
      is_cut(c.hosts[0], c.hosts[1]) || is_cut(c.hosts[1], c.hosts[0]) || powered_off_.contains(c.hosts[1]);
  if (lost) return fail_dial(id, plan_.connect_timeout);
  if (!hosts_.contains(c.hosts[1]) || refusals_.contains({c.hosts[0], c.hosts[1]}) ||
      percent(random_, plan_.refused_percent)) {
    world_.count(Did::kRefused);
    return fail_dial(id, delay());
  }
  c.open[1] = true;
  push(id, 0, Chunk::Kind::kConnected, {});
  push(id, 1, Chunk::Kind::kConnected, {});
}

void Network::fail_dial(std::uint64_t id, Micros wait) {
  const auto owner = hosts_.find(connections_.at(id).hosts[0]);
  if (owner == hosts_.end()) return;
  world_.after(wait, owner->second.actor, [this, id] {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    const bool waited_for = found->second.open[0];
    const HostId from = found->second.hosts[0];
    connections_.erase(found);
    if (waited_for) hosts_.at(from).host->on_dial_failed(socket(id, 0));
  });
}

// --- sending ---

void Network::send(SocketId s, std::string_view bytes) {
  const auto found = connections_.find(number(s));
  if (found == connections_.end() || bytes.empty()) return;
  if (!found->second.open[side(s)] || found->second.from[side(s)].ended) return;
  push(number(s), side(s), Chunk::Kind::kBytes, bytes);
}

void Network::push(std::uint64_t id, std::size_t s, Chunk::Kind kind, std::string_view bytes) {
  Direction& direction = connections_.at(id).from[s];
  if (direction.ended) return;
  if (kind == Chunk::Kind::kEnd) direction.ended = true;
  direction.last_arrival = std::max(direction.last_arrival, world_.now() + delay());
  direction.chunks.push_back({kind, direction.last_arrival, std::string(bytes)});
  schedule(id, s);
}

void Network::schedule(std::uint64_t id, std::size_t s) {
  Connection& c = connections_.at(id);
  Direction& direction = c.from[s];
  if (direction.scheduled || direction.stalled || direction.chunks.empty()) return;
  direction.scheduled = true;
  const auto receiver = hosts_.find(c.hosts[1 - s]);
  const bool heard = receiver != hosts_.end() && c.open[1 - s];
  const Micros wait = std::max<Micros>(0, direction.chunks.front().arrives - world_.now());
  world_.after(wait, heard ? receiver->second.actor : kTheWorld, [this, id, s] { deliver(id, s); });
}

void Network::deliver(std::uint64_t id, std::size_t s) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& c = found->second;
  Direction& direction = c.from[s];
  direction.scheduled = false;
  if (direction.chunks.empty()) return;
  if (direction.chunks.front().arrives > world_.now()) return schedule(id, s);
  if (is_cut(c.hosts[s], c.hosts[1 - s]) && !direction.given_up) {
    direction.stalled = true;
    return;
  }
  if (!c.open[1 - s]) return on_unheard(id, s);
  Host& host = *hosts_.at(c.hosts[1 - s]).host;
  switch (direction.chunks.front().kind) {
    case Chunk::Kind::kBytes: return deliver_bytes(id, s, host);
    case Chunk::Kind::kConnected: {
      direction.chunks.pop_front();
      const Port port = c.port;
      const HostId from = c.hosts[s];
      schedule(id, s);
      if (s == 0) return host.on_accepted(socket(id, 1), port, from);
      return host.on_connected(socket(id, 0));
    }
    case Chunk::Kind::kEnd:
      c.open[1 - s] = false;
      direction.chunks.clear();
      forget_if_over(id);
      return host.on_closed(socket(id, 1 - s));
  }
}

// No process has the socket any more. The machine says so, if there is one.
void Network::on_unheard(std::uint64_t id, std::size_t s) {
  Connection& c = connections_.at(id);
  const bool bytes = std::any_of(c.from[s].chunks.begin(), c.from[s].chunks.end(),
                                 [](const Chunk& chunk) { return chunk.kind == Chunk::Kind::kBytes; });
  c.from[s].chunks.clear();
  const bool silent = powered_off_.contains(c.hosts[1 - s]) || c.silenced;
  if (bytes && !silent && c.open[s] && hosts_.contains(c.hosts[s])) {
    c.from[1 - s].ended = false;
    push(id, 1 - s, Chunk::Kind::kEnd, {});
  }
  forget_if_over(id);
}

// The process reads all bytes that have arrived, or only some of them.
void Network::deliver_bytes(std::uint64_t id, std::size_t s, Host& host) {
  Direction& direction = connections_.at(id).from[s];
  std::string bytes;
  while (!direction.chunks.empty() && direction.chunks.front().kind == Chunk::Kind::kBytes &&
         direction.chunks.front().arrives <= world_.now()) {
    bytes.append(direction.chunks.front().bytes);
    direction.chunks.pop_front();
  }
  if (bytes.size() > 1 && percent(random_, plan_.split_percent)) {
    const auto part =
        static_cast<std::size_t>(between(random_, 1, static_cast<std::int64_t>(bytes.size()) - 1));
    direction.chunks.push_front({Chunk::Kind::kBytes, world_.now() + delay(), bytes.substr(part)});
    bytes.resize(part);
    world_.count(Did::kSplit);
    Micros at = direction.chunks.front().arrives;
    for (Chunk& later : direction.chunks) at = later.arrives = std::max(at, later.arrives);
    direction.last_arrival = std::max(direction.last_arrival, at);
  }
  schedule(id, s);
  host.on_bytes(socket(id, 1 - s), bytes);
}

// --- ends ---

void Network::close(SocketId s) {
  const auto found = connections_.find(number(s));
  if (found == connections_.end() || !found->second.open[side(s)]) return;
  Connection& c = found->second;
  c.open[side(s)] = false;
  if (c.open[1 - side(s)]) push(number(s), side(s), Chunk::Kind::kEnd, {});
  forget_if_over(number(s));
}

void Network::forget_if_over(std::uint64_t id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const Connection& c = found->second;
  if (!c.open[0] && !c.open[1]) connections_.erase(found);
}

// Some bytes that are under way still arrive, up to any byte.
void Network::cut_short(Direction& direction) {
  std::size_t total = 0;
  for (const Chunk& chunk : direction.chunks) total += chunk.bytes.size();
  std::size_t keep = total == 0 || random_.below(2) == 0 ? total : random_.below(total + 1);
  std::size_t n = 0;
  for (; n < direction.chunks.size(); ++n) {
    Chunk& chunk = direction.chunks[n];
    if (chunk.bytes.size() > keep) {
      world_.count(Did::kCutShort);
      chunk.bytes.resize(keep);
      n += keep > 0 ? 1 : 0;
      break;
    }
    keep -= chunk.bytes.size();
  }
  direction.chunks.resize(n);
}

void Network::detach(HostId id, Farewell farewell) {
  hosts_.erase(id);
  if (farewell == Farewell::kSilent) powered_off_.insert(id);
  std::vector<std::uint64_t> ids;
  for (const auto& [n, c] : connections_) {
    if (c.hosts[0] == id || c.hosts[1] == id) ids.push_back(n);
  }
  for (const std::uint64_t n : ids) {
    Connection& c = connections_.at(n);
    const std::size_t mine = c.hosts[0] == id ? 0 : 1;
    const bool was_open = std::exchange(c.open[mine], false);
    c.from[1 - mine].chunks.clear();
    c.from[1 - mine].scheduled = false;
    if (was_open) {
      cut_short(c.from[mine]);
      if (farewell == Farewell::kReset) push(n, mine, Chunk::Kind::kEnd, {});
      c.from[mine].ended = true;
    }
    forget_if_over(n);
  }
}

void Network::attach(HostId id, Host& host, ActorId actor) {
  hosts_[id] = {&host, actor};
  powered_off_.erase(id);
}

bool Network::reset_any(Random& random, Port port) {
  std::vector<std::uint64_t> ids;
  for (const auto& [n, c] : connections_) {
    if (c.port == port && c.open[0] && c.open[1]) ids.push_back(n);
  }
  if (ids.empty()) return false;
  const std::uint64_t id = ids[random.below(ids.size())];
  // In a third of the cases one side does not hear of it.
  const std::size_t silent = one_in(random, 3) ? random.below(2) : 2;
  world_.count(port == Port::kClient ? Did::kResetClient : Did::kReset);
  reset(id, silent);
  return true;
}

void Network::leave_in_the_dark(HostId host) {
  std::vector<std::pair<std::uint64_t, std::size_t>> all;
  for (const auto& [n, c] : connections_) {
    if (c.port != Port::kQuorum || !c.open[0] || !c.open[1]) continue;
    if (c.hosts[0] == host || c.hosts[1] == host) all.emplace_back(n, c.hosts[0] == host ? 0 : 1);
  }
  for (const auto& [n, dark] : all) {
    Direction& to_others = connections_.at(n).from[dark];
    to_others.chunks.clear();
    to_others.stalled = false;
    to_others.given_up = true;
    reset(n, dark);
  }
}

// `silent`: the side that never hears of it; 2: both do.
void Network::reset(std::uint64_t id, std::size_t silent) {
  Connection& c = connections_.at(id);
  c.silenced = silent != 2;
  if (c.silenced) world_.count(Did::kHalfOpen);
  for (std::size_t s = 0; s < 2; ++s) {
    cut_short(c.from[s]);
    if (1 - s == silent) {
      c.from[s].ended = true;  // The other side hears nothing from here.
    } else {
      push(id, s, Chunk::Kind::kEnd, {});
    }
  }
}

// --- cuts and refusals ---

void Network::set_cut(HostId from, HostId to, bool cut) {
  if (cut) {
    cuts_.insert({from, to});
  } else {
    cuts_.erase({from, to});
    unstall();
  }
}

void Network::set_refused(HostId from, HostId to, bool refused) {
  if (refused) {
    refusals_.insert({from, to});
  } else {
    refusals_.erase({from, to});
  }
}

void Network::heal() {
  refusals_.clear();
  cuts_.clear();
  unstall();
}

void Network::unstall() {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, c] : connections_) ids.push_back(id);
  for (const std::uint64_t id : ids) {
    Connection& c = connections_.at(id);
    for (std::size_t s = 0; s < 2; ++s) {
      if (!c.from[s].stalled || is_cut(c.hosts[s], c.hosts[1 - s])) continue;
      c.from[s].stalled = false;
      schedule(id, s);
    }
  }
}

}  // namespace drover::sim
