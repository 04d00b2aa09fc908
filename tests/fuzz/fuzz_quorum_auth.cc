// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary data where a SASL exchange between servers may begin. The decoder must find the same packets
// however the bytes are split, refuse bad bytes before it waits for more, and never wait for more than the
// largest packet.
//
// Input: a byte for the size of the pieces, then the stream.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "wire/quorum_auth.h"

namespace {

using namespace drover::wire;

constexpr std::size_t kHeaderBytes = 16;

// Every packet, encoded again, and a last byte for the reason why the decoder stopped.
std::string decode_in_pieces(std::string_view bytes, std::size_t piece) {
  std::string again;
  std::string pending;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    pending += bytes.substr(0, piece);
    for (;;) {
      QuorumAuthPacket packet;
      const DecodedAuth decoded = decode_auth_packet(pending, packet);
      if (decoded.status == Decoded::kBad) return again + '!';
      if (decoded.status == Decoded::kNeedMore) break;
      ENSURE(begins_with_auth(pending) == true, "a packet begins with the magic number");
      ENSURE(decoded.bytes >= kHeaderBytes && decoded.bytes <= pending.size(),
             "a packet is made of its bytes");
      append_auth_packet(again, packet.status, packet.token);
      ENSURE(again.ends_with(std::string_view(pending).substr(0, decoded.bytes)), "a packet loses nothing");
      pending.erase(0, decoded.bytes);
    }
    ENSURE(pending.size() < kHeaderBytes + kAuthTokenBytesMax,
           "no more is waited for than a packet may take");
  }
  return again + '.';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = decode_in_pieces(bytes, bytes.size() + 1);
  ENSURE(whole == decode_in_pieces(bytes, 1 + data[0] % 64), "pieces give the same packets");
  return 0;
}
