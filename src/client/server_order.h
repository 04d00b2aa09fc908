// SPDX-License-Identifier: Apache-2.0
//
// Which server to try next, and how long to wait before.
//
// The list is shuffled once, so that many clients with one connect string spread over the servers, and then
// gone through in turn. The first try of all is at once. Within a round the delays are only a jitter, so that
// the clients of a server that died do not arrive at the next one in the same millisecond; each round that
// found nobody doubles the wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"

namespace drover::client {

inline constexpr std::int64_t kJitterMs = 50;
inline constexpr std::int64_t kRoundDelayMinMs = 100;
inline constexpr std::int64_t kRoundDelayMaxMs = 1000;

class ServerOrder {
 public:
  // At least one server.
  ServerOrder(std::size_t servers, std::uint64_t seed);

  // The index of the server to dial now.
  std::size_t next();
  // How long to wait before the next dial.
  std::int64_t delay_ms();
  // A server answered: failures are counted anew.
  void on_success() { failures_ = 0; }

  std::size_t size() const { return order_.size(); }

 private:
  Random random_;
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  std::size_t failures_ = 0;  // dials since the last success
};

}  // namespace drover::client
