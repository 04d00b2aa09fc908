// SPDX-License-Identifier: Apache-2.0
//
// Decides which server to try next, and how long to wait before.
//
// The list is shuffled once, so that many clients with one connect string spread over the servers, and then
// tried in turn. The first try is immediate. Within a round the delay is only a jitter, so that the clients
// of a dead server do not reach the next one in the same millisecond. Each round without a success doubles
// the wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"

namespace drover::client {

inline constexpr std::int64_t kJitterMs = 50;
inline constexpr std::int64_t kRoundDelayMinMs = 100;
inline constexpr std::int64_t kRoundDelayMaxMs = 1000;

// A new list of servers: for each its index in the old list, if it was there.
using Origins = std::vector<std::optional<std::size_t>>;

// The current server in a new list.
enum class Current : std::uint8_t {
  kByList,  // kept if it is in the new list, otherwise removed
  kKept,    // even if it is not in the list
  kStays,   // do not leave it
};

class ServerOrder {
 public:
  // Needs at least one server.
  ServerOrder(std::size_t servers, std::uint64_t seed);

  // The index of the server to dial now.
  std::size_t next();
  // How long to wait before the next dial.
  std::int64_t delay_ms();
  // A server answered: resets the count of failures.
  void on_success();

  // Replaces the list; indexes mean the new one from now on. True: leave the current server for next(), by
  // the rule of rebalance.h.
  [[nodiscard]] bool replace(const Origins& origins, Current current);

  // The index of the last next(); empty: none yet, or it is not in the list.
  std::optional<std::size_t> current() const { return current_; }
  std::size_t size() const { return order_.size(); }
  // How often all servers were dialled in vain since the last success.
  std::size_t failed_rounds() const { return failures_ / order_.size(); }

 private:
  void shuffle(std::vector<std::size_t>& servers);
  bool happens(double chance);
  void shuffle_behind_current();

  Random random_;
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  bool dialled_ = false;
  std::optional<std::size_t> current_;
  bool rebalancing_ = false;  // until the next success, order_ prefers some servers
  std::size_t failures_ = 0;  // dials since the last success
};

}  // namespace drover::client
