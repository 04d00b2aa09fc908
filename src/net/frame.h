// SPDX-License-Identifier: Apache-2.0
//
// Splits a stream of bytes into frames: a big-endian 32-bit length, then that many bytes.
//
//   0000000c 00000001 0000000b 00000000   one frame of 12 bytes
//
// Copies and allocates nothing: the frame is a view into the given bytes. A length above `max` is rejected at
// once, before the caller waits or allocates memory for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/jute.h"

namespace drover::net {

enum class FrameStatus {
  kComplete,   // `frame` is set; the next one starts at frame.end()
  kNeedMore,   // the length or the rest of the body has not arrived yet
  kBadLength,  // negative or above the limit: the rest of the stream cannot be parsed
};

inline constexpr std::size_t kFrameHeaderBytes = 4;

inline FrameStatus next_frame(std::string_view bytes, std::size_t max, std::string_view& frame) {
  if (bytes.size() < kFrameHeaderBytes) return FrameStatus::kNeedMore;
  const auto length = wire::load_be<std::int32_t>(bytes.data());
  if (length < 0 || static_cast<std::size_t>(length) > max) return FrameStatus::kBadLength;
  if (bytes.size() - kFrameHeaderBytes < static_cast<std::size_t>(length)) return FrameStatus::kNeedMore;
  frame = bytes.substr(kFrameHeaderBytes, static_cast<std::size_t>(length));
  return FrameStatus::kComplete;
}

}  // namespace drover::net
