// SPDX-License-Identifier: Apache-2.0
#include "sim/election_net.h"

#include <algorithm>

namespace drover::sim {
namespace {

constexpr Micros kRetryLow = 50 * kMillisecond;
constexpr Micros kRetryHigh = 1000 * kMillisecond;

}  // namespace

void ElectionNet::attach(ServerId id, Host& host, ActorId actor) {
  hosts_[id] = {&host, actor};
  for (auto& [ends, pair] : pairs_) {
    if (ends.first == id) pair = Pair{};
  }
}

void ElectionNet::detach(ServerId id, Farewell farewell) {
  hosts_.erase(id);
  for (auto& [ends, pair] : pairs_) {
    if (ends.first == id) pair = Pair{};
  }
  if (farewell == Farewell::kSilent) return;
  for (const auto& [peer, attached] : hosts_) {
    if (is_connected(id, peer)) set_reachable(peer, id, false);
  }
}

bool ElectionNet::is_connected(ServerId a, ServerId b) const {
  return !network_.is_cut(host_of(a), host_of(b)) && !network_.is_cut(host_of(b), host_of(a));
}

void ElectionNet::send(ServerId from, ServerId to, std::string bytes) {
  Pair& pair = pairs_[{from, to}];
  pair.waiting = std::move(bytes);
  if (pair.scheduled) return;
  pair.scheduled = true;
  world_.after(0, [this, from, to] { try_to_send(from, to); });
}

void ElectionNet::try_to_send(ServerId from, ServerId to) {
  Pair& pair = pairs_[{from, to}];
  pair.scheduled = false;
  if (!hosts_.contains(from) || !pair.waiting) return;
  if (!hosts_.contains(to) || !is_connected(from, to)) {
    set_reachable(from, to, false);
    pair.scheduled = true;
    world_.after(between(random_, kRetryLow, kRetryHigh), [this, from, to] { try_to_send(from, to); });
    return;
  }
  std::string bytes = *std::exchange(pair.waiting, std::nullopt);
  set_reachable(from, to, true);
  set_reachable(to, from, true);
  if (percent(random_, plan_.lost_percent)) return world_.count(Did::kVoteLost);
  pair.last_arrival = std::max(pair.last_arrival, world_.now() + network_.delay());
  if (percent(random_, plan_.doubled_percent)) {
    world_.count(Did::kVoteDoubled);
    arrive(from, to, bytes, pair.last_arrival - world_.now() + between(random_, 0, kSecond));
  }
  arrive(from, to, std::move(bytes), pair.last_arrival - world_.now());
}

void ElectionNet::arrive(ServerId from, ServerId to, std::string bytes, Micros delay) {
  const ActorId actor = hosts_.at(to).actor;
  world_.after(delay, actor, [this, from, to, bytes = std::move(bytes)] {
    const auto found = hosts_.find(to);
    if (found != hosts_.end()) found->second.host->on_notification(from, bytes);
  });
}

void ElectionNet::set_reachable(ServerId at, ServerId peer, bool reachable) {
  Pair& pair = pairs_[{at, peer}];
  if (pair.reachable == reachable) return;
  pair.reachable = reachable;
  const auto found = hosts_.find(at);
  if (found == hosts_.end()) return;
  world_.after(network_.delay(), found->second.actor, [this, at, peer, reachable] {
    if (const auto host = hosts_.find(at); host != hosts_.end())
      host->second.host->on_reachable(peer, reachable);
  });
}

}  // namespace drover::sim
