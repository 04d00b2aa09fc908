// SPDX-License-Identifier: Apache-2.0
//
// The packets of a SASL exchange between servers, on both ports. The connecting server sends the first one.
//
//   5f2435013501edcc 00000000 00000000            the magic number, IN_PROGRESS, an empty token
//   5f2435013501edcc 00000001 00000002 6f6b       the answer: SUCCESS, the token "ok"
//
// The magic number tells an exchange from other traffic: read as the type of a quorum packet or as the length
// of an election frame, its first four bytes are far beyond what is valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/jute.h"
#include "wire/quorum.h"

namespace drover::wire {

enum class AuthStatus : std::int32_t { kError = -1, kInProgress = 0, kSuccess = 1 };

struct QuorumAuthPacket {
  AuthStatus status{};
  Nullable token{};
};

// Kerberos tokens are the largest. Active Directory limits them to 65,535 bytes.
inline constexpr std::size_t kAuthTokenBytesMax = 64 * 1024;

void append_auth_packet(std::string& out, AuthStatus status, const Nullable& token);

struct DecodedAuth {
  Decoded status = Decoded::kNeedMore;
  std::size_t bytes = 0;  // size of the packet; only with kComplete
};
// Decodes the packet at the front of `bytes`. The token points into `bytes`. A wrong magic number, an unknown
// status or a token that is too large is bad at once, before the rest arrives.
DecodedAuth decode_auth_packet(std::string_view bytes, QuorumAuthPacket& packet);

// True if an exchange begins here. Nullopt: not enough bytes to tell. At most 8 bytes are needed, and one is
// enough for valid traffic of another kind.
std::optional<bool> begins_with_auth(std::string_view bytes);

}  // namespace drover::wire
