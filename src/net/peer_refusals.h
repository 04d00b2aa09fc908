// SPDX-License-Identifier: Apache-2.0
//
// Connections that one of the ports between servers has turned away, counted by reason, for the monitor.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace drover::net {

enum class Refusal : std::uint8_t {
  kNoGreeting,    // it said something else, or left
  kLate,          // its greeting took too long
  kCrowded,       // the oldest of too many without a greeting
  kNoMember,      // it says to be a server that is not another member
  kWrongAddress,  // it says to be a member that is elsewhere
  kHandshake,     // TLS, or there was no descriptor left for it
  kEnd            // how many there are
};

// Counted by one thread, read by any.
class PeerRefusals {
 public:
  void count(Refusal reason) {
    counts_[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t of(Refusal reason) const {
    return counts_[static_cast<std::size_t>(reason)].load(std::memory_order_relaxed);
  }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& count : counts_) sum += count.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Refusal::kEnd)> counts_{};
};

}  // namespace drover::net
