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
  // Nothing that was sent to the process before reaches this one.
  for (auto& [ends, link] : links_) {
    if (ends.first == id || ends.second == id) ++link.number;
  }
}

void ElectionNet::detach(ServerId id, Farewell farewell) {
  hosts_.erase(id);
  for (auto& [ends, pair] : pairs_) {
    if (ends.first == id) pair = Pair{};
  }
  for (auto& [ends, link] : links_) {
    if (ends.first == id || ends.second == id) link.up = false;
  }
  if (farewell == Farewell::kSilent) return;
  for (const auto& [peer, attached] : hosts_) {
    if (!network_.is_cut(host_of(id), host_of(peer)) && !network_.is_cut(host_of(peer), host_of(id)))
      set_reachable(peer, id, false);
  }
}

bool ElectionNet::is_possible(ServerId a, ServerId b) const {
  return hosts_.contains(a) && hosts_.contains(b) && !network_.is_cut(host_of(a), host_of(b)) &&
         !network_.is_cut(host_of(b), host_of(a));
}

void ElectionNet::send(ServerId from, ServerId to, std::string bytes) {
  pairs_[{from, to}].waiting = std::move(bytes);
  pump_soon(from, to, 0);
}

void ElectionNet::forge(ServerId from, ServerId to, std::string bytes) {
  if (hosts_.contains(to)) arrive(from, to, std::move(bytes), network_.delay(), std::nullopt);
}

void ElectionNet::pump_soon(ServerId from, ServerId to, Micros delay) {
  world_.after(delay, [this, from, to] { pump(from, to); });
}

void ElectionNet::pump(ServerId from, ServerId to) {
  if (!hosts_.contains(from) || !pairs_[{from, to}].waiting) return;
  if (!is_possible(from, to)) return on_unreachable(from, to);
  Link& link = link_of(from, to);
  if (link.up) return transmit(from, to);
  if (from > to) return dial(from, to);
  if (std::exchange(link.knocking, true)) return;
  world_.after(network_.delay(), [this, from, to] { on_knock(from, to); });
}

void ElectionNet::transmit(ServerId from, ServerId to) {
  Pair& pair = pairs_[{from, to}];
  pair.last = *std::exchange(pair.waiting, std::nullopt);
  if (percent(random_, plan_.lost_percent)) return world_.count(Did::kVoteLost);
  pair.last_arrival = std::max(pair.last_arrival, world_.now() + network_.delay());
  const Micros delay = pair.last_arrival - world_.now();
  if (percent(random_, plan_.doubled_percent)) {
    world_.count(Did::kVoteDoubled);
    arrive(from, to, pair.last, delay + between(random_, 0, kSecond), std::nullopt);
  }
  arrive(from, to, pair.last, delay, link_of(from, to).number);
}

// --- connections ---

void ElectionNet::dial(ServerId larger, ServerId smaller) {
  if (std::exchange(link_of(larger, smaller).dialling, true)) return;
  world_.after(network_.delay(), [this, larger, smaller] { on_dialled(larger, smaller); });
}

void ElectionNet::on_dialled(ServerId larger, ServerId smaller) {
  link_of(larger, smaller).dialling = false;
  if (!is_possible(larger, smaller)) return on_unreachable(larger, smaller);
  establish(larger, smaller);
}

void ElectionNet::on_knock(ServerId smaller, ServerId larger) {
  Link& link = link_of(smaller, larger);
  link.knocking = false;
  if (!is_possible(smaller, larger)) return on_unreachable(smaller, larger);
  if (link.up || link.dialling) world_.count(Did::kLinksCrossed);
  // A server that knocks has no link: the larger closes its own and dials back. A server may also take a
  // knock that comes right after its own call for one that was under way before, and keep its link.
  if (link.up && one_in(random_, 2)) return pump(smaller, larger);
  link.up = false;
  dial(larger, smaller);
}

void ElectionNet::establish(ServerId a, ServerId b) {
  Link& link = link_of(a, b);
  link.up = true;
  ++link.number;
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    set_reachable(from, to, true);
    Pair& pair = pairs_[{from, to}];
    if (!pair.waiting && !pair.last.empty()) pair.waiting = pair.last;
    pump_soon(from, to, 0);
  }
}

void ElectionNet::on_unreachable(ServerId from, ServerId to) {
  link_of(from, to).up = false;
  if (!hosts_.contains(from)) return;
  set_reachable(from, to, false);
  Pair& pair = pairs_[{from, to}];
  if (std::exchange(pair.retrying, true)) return;
  world_.after(between(random_, kRetryLow, kRetryHigh), [this, from, to] {
    pairs_[{from, to}].retrying = false;
    pump(from, to);
  });
}

void ElectionNet::arrive(ServerId from, ServerId to, std::string bytes, Micros delay,
                         std::optional<std::uint64_t> link) {
  const ActorId actor = hosts_.at(to).actor;
  world_.after(delay, actor, [this, from, to, link, bytes = std::move(bytes)] {
    if (link && link_of(from, to).number != *link) return world_.count(Did::kVoteLost);
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
