// SPDX-License-Identifier: Apache-2.0
//
// Ids with types of their own, so that a session id cannot be passed as a zxid.
//
// The only header shared by users and the core: src/base/ids.h is built on it.
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
