// SPDX-License-Identifier: Apache-2.0
#include "client/server_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/ensure.h"
#include "client/rebalance.h"

namespace drover::client {

ServerOrder::ServerOrder(std::size_t servers, std::uint64_t seed) : random_(seed), order_(servers) {
  ENSURE(servers > 0, "there is a server to connect to");
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  shuffle(order_);
}

void ServerOrder::shuffle(std::vector<std::size_t>& servers) {
  for (std::size_t i = servers.size(); i > 1; --i) std::swap(servers[i - 1], servers[random_.below(i)]);
}

bool ServerOrder::happens(double chance) {
  constexpr std::uint64_t kSteps = std::uint64_t{1} << 53;  // as exact as a double
  return static_cast<double>(random_.below(kSteps)) < chance * static_cast<double>(kSteps);
}

std::size_t ServerOrder::next() {
  const std::size_t server = order_[at_];
  at_ = (at_ + 1) % order_.size();
  current_ = server;
  dialled_ = true;
  ++failures_;
  return server;
}

void ServerOrder::on_success() {
  failures_ = 0;
  if (std::exchange(rebalancing_, false)) shuffle_behind_current();
}

// A random order in which the current server comes last, because it is the one that will have been lost.
void ServerOrder::shuffle_behind_current() {
  shuffle(order_);
  at_ = 0;
  if (!current_) return;
  std::swap(*std::find(order_.begin(), order_.end(), *current_), order_.back());
}

bool ServerOrder::replace(const Origins& origins, Current current) {
  ENSURE(!origins.empty(), "there is a server to connect to");
  std::vector<std::size_t> kept, added;
  std::optional<std::size_t> place;  // of the current server
  for (std::size_t i = 0; i < origins.size(); ++i) {
    (origins[i] ? kept : added).push_back(i);
    if (origins[i] && origins[i] == current_) place = i;
  }
  const ListChange change{order_.size(), kept.size(), added.size(), place || current == Current::kKept};
  order_.resize(origins.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  current_ = place;
  rebalancing_ = dialled_ && current != Current::kStays && happens(chance_to_leave(change));
  if (!rebalancing_) {
    shuffle_behind_current();
    return false;
  }
  shuffle(kept);
  shuffle(added);
  order_.clear();
  at_ = 0;
  while (!kept.empty() || !added.empty()) {
    const bool take_added = !added.empty() && (kept.empty() || happens(chance_of_added(change)));
    std::vector<std::size_t>& from = take_added ? added : kept;
    order_.push_back(from.back());
    from.pop_back();
  }
  return true;
}

std::int64_t ServerOrder::delay_ms() {
  const std::size_t rounds = failures_ / order_.size();
  if (failures_ == 0 || failures_ % order_.size() != 0) {
    return static_cast<std::int64_t>(random_.below(kJitterMs + 1));
  }
  const std::int64_t most =
      std::min(kRoundDelayMaxMs, kRoundDelayMinMs << std::min<std::size_t>(rounds - 1, 10));
  return most / 2 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most / 2 + 1)));
}

}  // namespace drover::client
