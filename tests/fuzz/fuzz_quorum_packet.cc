// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary data for the quorum port. The decoder must find the same packets however the bytes are split,
// never wait for more than its limits allow, and parse the contents of packets without a crash.
//
// Input: a byte for the size of the pieces, then the stream.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ensure.h"
#include "wire/quorum.h"

namespace {

using namespace drover;
using namespace drover::wire;

constexpr PacketLimits kLimits{.data_bytes_max = 256, .identities_max = 8, .identities_bytes_max = 128};
// Type, zxid, two lengths, and the maximum for each limit, with a length before each scheme and id.
constexpr std::size_t kPacketBytesMax =
    20 + kLimits.data_bytes_max + 8 * kLimits.identities_max + kLimits.identities_bytes_max;

// Every packet in the bytes, encoded again, and the reason why the decoder stopped.
struct Stream {
  std::vector<std::string> packets;
  Decoded end = Decoded::kNeedMore;
};

std::string encoded(const QuorumPacket& packet) {
  std::string out;
  append_packet(out, packet.type, packet.zxid, packet.data);
  for (const Identity& who : packet.identities) out += '\n' + who.scheme + '\0' + who.id;
  return out;
}

bool within_limits(const std::vector<Identity>& identities) {
  std::size_t bytes = 0;
  for (const Identity& who : identities) bytes += who.scheme.size() + who.id.size();
  return identities.size() <= kLimits.identities_max && bytes <= kLimits.identities_bytes_max;
}

void read_payload(const QuorumPacket& packet) {
  ENSURE(within_limits(packet.identities), "what is taken fits");
  (void)name_of(packet.type);
  (void)decode_int(packet.data);
  (void)decode_revalidated(packet.data);
  if (const auto info = decode_learner_info(packet.data)) {
    ENSURE(encode(*info).starts_with(packet.data->substr(0, 8)), "the server's id comes first");
  }
  if (const auto request = decode_forwarded(packet.data)) {
    std::string again;
    append_forwarded(again, *request);
    ENSURE(again == *packet.data, "a forwarded request loses nothing");
  }
  if (const auto sessions = decode_touched(packet.data)) {
    std::string again;
    for (const TouchedSession& touched : *sessions) append_touched(again, touched);
    ENSURE(again == *packet.data, "touched sessions lose nothing");
  }
}

// Takes all packets from the front of `pending`.
void take(std::string& pending, Stream& stream) {
  QuorumPacket packet;
  while (stream.end == Decoded::kNeedMore) {
    const DecodedPacket decoded = decode_packet(pending, kLimits, packet);
    if (decoded.status == Decoded::kNeedMore) {
      ENSURE(pending.size() < kPacketBytesMax, "no more is waited for than a packet may take");
      return;
    }
    if (decoded.status == Decoded::kBad) {
      stream.end = Decoded::kBad;
      return;
    }
    ENSURE(decoded.bytes > 0 && decoded.bytes <= pending.size(), "a packet is made of the bytes given");
    read_payload(packet);
    stream.packets.push_back(encoded(packet));
    pending.erase(0, decoded.bytes);
  }
}

Stream decode_in_pieces(std::string_view bytes, std::size_t piece) {
  Stream stream;
  std::string pending;
  for (; !bytes.empty() && stream.end == Decoded::kNeedMore;
       bytes.remove_prefix(std::min(piece, bytes.size()))) {
    pending += bytes.substr(0, piece);
    take(pending, stream);
  }
  return stream;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Stream whole = decode_in_pieces(bytes, bytes.size() + 1);
  const Stream pieces = decode_in_pieces(bytes, 1 + data[0] % 64);
  ENSURE(whole.packets == pieces.packets, "pieces give the same packets");
  ENSURE(whole.end == pieces.end, "pieces end the same way");
  return 0;
}
