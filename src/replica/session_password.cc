// SPDX-License-Identifier: Apache-2.0
#include "replica/session_password.h"

#include <cstdint>

namespace drover::replica {
namespace {

// ZooKeeperServer's superSecret.
constexpr std::uint64_t kSecret = 0xB3415C00;

}  // namespace

std::array<char, 16> session_password(SessionId session) {
  constexpr std::uint64_t kMultiplier = 0x5DEECE66D;
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;
  std::uint64_t seed = ((static_cast<std::uint64_t>(raw(session)) ^ kSecret) ^ kMultiplier) & kMask;
  std::array<char, 16> password{};
  for (std::size_t i = 0; i < password.size(); i += 4) {
    seed = (seed * kMultiplier + 0xB) & kMask;
    auto bits = static_cast<std::uint32_t>(seed >> 16);
    for (std::size_t b = 0; b < 4; ++b, bits >>= 8) password[i + b] = static_cast<char>(bits);
  }
  return password;
}

bool is_session_password(SessionId session, std::string_view password) {
  const auto expected = session_password(session);
  if (raw(session) == 0 || password.size() != expected.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference =
        static_cast<unsigned char>(difference | (static_cast<unsigned char>(expected[i] ^ password[i])));
  }
  return difference == 0;
}

}  // namespace drover::replica
