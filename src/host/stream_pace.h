// SPDX-License-Identifier: Apache-2.0
//
// How fast a leader sends its state to a learner.
//
// The thread that copies and sends the state also handles every request, acknowledgement and commit. So the
// state is sent in small pieces. As long as transactions are applied, there is a rest after each piece, in
// which that thread does everything else first, and the learner's CPU time comes in short bursts. If nothing
// is written, there is no rest.
//
// docs/performance.md, "A server joins", has the measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ids.h"

namespace drover::host {

// Bytes queued in a link's output at a time.
inline constexpr std::size_t kStreamPieceBytes = std::size_t{256} << 10;
// At most 256 MB per second while clients write.
inline constexpr std::int64_t kStreamRestMs = 1;

class StreamPace {
 public:
  // A piece is sent, and this is the last transaction applied. Returns the rest before the next piece.
  std::int64_t rest_ms(Zxid applied) {
    return std::exchange(applied_, applied) == applied ? 0 : kStreamRestMs;
  }

 private:
  Zxid applied_{};
};

}  // namespace drover::host
