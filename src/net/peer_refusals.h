// SPDX-License-Identifier: Apache-2.0
//
// Counts refused connections of a port between servers, by reason, for the monitor.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace drover::net {

enum class Refusal : std::uint8_t {
  kNoGreeting,    // sent something else, or closed the connection
  kLate,          // the greeting took too long
  kCrowded,       // the oldest of too many without a greeting, or the quietest of too many guests
  kNoMember,      // claims the id of a server that is not another member, and cannot be a guest
  kWrongAddress,  // claims the id of a member with other addresses, or announces an address of a member
  kCredentials,   // the SASL exchange failed, or is required and did not begin
  kHandshake,     // the TLS handshake failed, or no descriptor was left
  kEnd            // number of reasons
};
// Their metrics, in the same order.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Refusal::kEnd)> kRefusalMetrics{
    "peer_rejected_no_greeting", "peer_rejected_late",    "peer_rejected_crowded",
    "peer_rejected_no_member",   "peer_rejected_address", "peer_rejected_credentials",
    "peer_rejected_handshake",
};

// Written by one thread, read by any.
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
