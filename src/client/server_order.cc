// SPDX-License-Identifier: Apache-2.0
#include "client/server_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/ensure.h"

namespace drover::client {

ServerOrder::ServerOrder(std::size_t servers, std::uint64_t seed) : random_(seed), order_(servers) {
  ENSURE(servers > 0, "there is a server to connect to");
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t i = servers; i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
}

std::size_t ServerOrder::next() {
  const std::size_t server = order_[at_];
  at_ = (at_ + 1) % order_.size();
  ++failures_;
  return server;
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
