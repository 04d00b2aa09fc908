// SPDX-License-Identifier: Apache-2.0
//
// Which server to try next, and how long to wait before.
//
// The list is shuffled once, so that many clients with one connect string spread over the servers, and then
// tried in turn. The first try is immediate. Within a round the delay is only a jitter, so that the clients
// of a dead server do not reach the next one in the same millisecond. Each round without a success doubles
// the wait.
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
  // Needs at least one server.
  ServerOrder(std::size_t servers, std::uint64_t seed);

  // The index of the server to dial now.
  std::size_t next();
  // How long to wait before the next dial.
  std::int64_t delay_ms();
  // A server answered: resets the count of failures.
  void on_success() { failures_ = 0; }

  std::size_t size() const { return order_.size(); }

 private:
  Random random_;
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  std::size_t failures_ = 0;  // dials since the last success
};

}  // namespace drover::client
