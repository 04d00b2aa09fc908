// SPDX-License-Identifier: Apache-2.0
//
// Identities as types of their own, so that a session id can never be passed where a zxid is meant.
//
// The one header that both sides share: users compile against it, and src/base/ids.h builds upon it.
#pragma once

#include <cstdint>
#include <utility>

namespace drover {

// Position in the one total order of transactions: epoch in the high 32 bits, counter in the low 32.
enum class Zxid : std::int64_t {};
enum class SessionId : std::int64_t {};

template <class Id>
constexpr std::int64_t raw(Id id) {
  return std::to_underlying(id);
}

}  // namespace drover
