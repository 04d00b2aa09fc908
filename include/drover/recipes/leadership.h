// SPDX-License-Identifier: Apache-2.0
//
// What elections give: a term of leadership.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "drover/ids.h"
#include "drover/op.h"

namespace drover::recipes {

// When leadership counts as lost.
enum class LossPolicy : std::uint8_t {
  // With the connection: nobody leads who cannot be sure. It comes back, as a new term with the same fence,
  // if
  // the session has survived.
  kOnSuspend,
  // With the session: a short interruption changes nothing.
  kOnExpiry,
};

struct Leadership {
  Zxid fence{};              // grows from leader to leader
  std::stop_token lost{};    // the end of this term
  Op check = Op::check({});  // fails a transaction of one who leads no longer
  std::string node{};
};

}  // namespace drover::recipes
