// SPDX-License-Identifier: Apache-2.0
#include "wire/quorum_auth.h"

#include <algorithm>
#include <array>

#include "base/ensure.h"

namespace drover::wire {
namespace {

constexpr std::int64_t kAuthMagic = 0x5f24'3501'3501'edcc;
constexpr std::size_t kMagicBytes = 8;
constexpr std::size_t kStatusEnd = kMagicBytes + 4;
constexpr std::size_t kHeaderBytes = kStatusEnd + 4;

bool is_known(AuthStatus status) {
  return status == AuthStatus::kError || status == AuthStatus::kInProgress || status == AuthStatus::kSuccess;
}

}  // namespace

void append_auth_packet(std::string& out, AuthStatus status, const Nullable& token) {
  ENSURE(!token || token->size() <= kAuthTokenBytesMax, "our tokens are within the limit of the peer");
  Writer w(out);
  w.i64(kAuthMagic);
  w.i32(static_cast<std::int32_t>(status));
  w.buffer(token);
}

DecodedAuth decode_auth_packet(std::string_view bytes, QuorumAuthPacket& packet) {
  const auto begins = begins_with_auth(bytes);
  if (begins == false) return {Decoded::kBad};
  if (!begins || bytes.size() < kStatusEnd) return {Decoded::kNeedMore};
  const auto status = static_cast<AuthStatus>(load_be<std::int32_t>(bytes.data() + kMagicBytes));
  if (!is_known(status)) return {Decoded::kBad};
  if (bytes.size() < kHeaderBytes) return {Decoded::kNeedMore};
  const auto length = load_be<std::int32_t>(bytes.data() + kStatusEnd);
  if (length == -1) {
    packet = {status, std::nullopt};
    return {Decoded::kComplete, kHeaderBytes};
  }
  if (length < 0 || static_cast<std::size_t>(length) > kAuthTokenBytesMax) return {Decoded::kBad};
  const auto token_bytes = static_cast<std::size_t>(length);
  if (bytes.size() - kHeaderBytes < token_bytes) return {Decoded::kNeedMore};
  packet = {status, bytes.substr(kHeaderBytes, token_bytes)};
  return {Decoded::kComplete, kHeaderBytes + token_bytes};
}

std::optional<bool> begins_with_auth(std::string_view bytes) {
  std::array<char, kMagicBytes> magic{};
  store_be(magic.data(), kAuthMagic);
  const std::size_t known = std::min(bytes.size(), kMagicBytes);
  if (bytes.substr(0, known) != std::string_view(magic.data(), known)) return false;
  return known == kMagicBytes ? std::optional(true) : std::nullopt;
}

}  // namespace drover::wire
