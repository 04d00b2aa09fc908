// SPDX-License-Identifier: Apache-2.0
//
// A leader's promise to ping again soon, so that its learners notice early if it is stuck.
//
// It is the data of a PING from leader to learner. Java sends no data there and ignores it. So the promise
// also shows that the leader runs drover: only then may a learner give up before syncLimit.
//
//   "DRVP" and the milliseconds until the next ping, as an int
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wire/jute.h"

namespace drover::zab {

inline constexpr std::int32_t kPingPromiseMark = 0x44525650;

inline std::string encode_ping_promise(std::int64_t next_within_ms) {
  std::string data;
  wire::Writer w(data);
  w.i32(kPingPromiseMark);
  w.i32(static_cast<std::int32_t>(next_within_ms));
  return data;
}

// nullopt if the data is no promise, or the time is not positive.
inline std::optional<std::int64_t> decode_ping_promise(const wire::Nullable& data) {
  if (!data || data->size() != 8) return std::nullopt;
  wire::Reader r(*data);
  const bool marked = r.i32() == kPingPromiseMark;
  const std::int32_t next_within_ms = r.i32();
  if (!marked || next_within_ms <= 0) return std::nullopt;
  return next_within_ms;
}

}  // namespace drover::zab
