// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary data for the election port: a greeting, then frames with notifications. A greeting must be
// recognised from its first bytes, and bad bytes must be refused as early as possible.
//
// Input: the stream.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "net/frame.h"
#include "wire/quorum.h"

namespace {

using namespace drover;
using namespace drover::wire;

constexpr std::size_t kHelloWholeMax = 20 + kHelloBytesMax;

// The greeting's length; 0: there is none.
std::size_t read_hello(std::string_view bytes) {
  ElectionHello hello;
  const DecodedHello whole = decode_hello(bytes, hello);
  const std::size_t said = whole.status == Decoded::kComplete ? whole.bytes : bytes.size();
  ENSURE(said <= bytes.size(), "a greeting is made of the bytes given");
  if (whole.status == Decoded::kNeedMore) ENSURE(said < kHelloWholeMax, "a greeting is short");
  for (std::size_t length = 0; length < said && length < kHelloWholeMax; ++length) {
    ElectionHello part;
    const Decoded status = decode_hello(bytes.substr(0, length), part).status;
    ENSURE(status != Decoded::kComplete, "a part is no greeting");
    ENSURE(status == Decoded::kNeedMore || whole.status == Decoded::kBad, "no part of a good one is bad");
  }
  if (whole.status != Decoded::kComplete) return 0;

  // The oldest form has no room for a negative id.
  if (hello.addresses.empty() && raw(hello.server) < 0) return whole.bytes;
  std::string again;
  append_hello(again, hello);
  ElectionHello same;
  ENSURE(decode_hello(again, same).status == Decoded::kComplete, "what was read can be said");
  ENSURE(same.server == hello.server && same.addresses == hello.addresses, "and means the same");
  return whole.bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t hello = read_hello(bytes);
  if (hello == 0) return 0;
  bytes.remove_prefix(hello);
  std::string_view frame;
  while (net::next_frame(bytes, kNotificationBytesMax, frame) == net::FrameStatus::kComplete) {
    (void)decode_notification(frame);
    bytes.remove_prefix(net::kFrameHeaderBytes + frame.size());
  }
  return 0;
}
