// SPDX-License-Identifier: Apache-2.0
//
// A term of leadership, the result of an election.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "drover/ids.h"
#include "drover/op.h"

namespace drover::recipes {

// When leadership is lost.
enum class LossPolicy : std::uint8_t {
  // With the connection: a process leads only while it is sure.
  // If the session survives, a new term begins
  // with the same fence.
  kOnSuspend,
  // With the session: a short disconnection changes nothing.
  kOnExpiry,
};

struct Leadership {
  Zxid fence{};              // grows with every leader
  std::stop_token lost{};    // the end of this term
  Op check = Op::check({});  // makes a transaction of a former leader fail
  std::string node{};
};

}  // namespace drover::recipes
