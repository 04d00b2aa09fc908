// SPDX-License-Identifier: Apache-2.0
//
// Why a multi cannot be decoded. Asked only about one that could not be: nothing but its zxid depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace drover::wire {

enum class MultiFlaw : std::uint8_t {
  kNone,
  kMalformed,  // Java has taken a zxid when it notices
  kNullAcl,    // of a create, create2 or createContainer: it has not
};

MultiFlaw flaw_of_multi(std::string_view body, std::size_t ops_max);

}  // namespace drover::wire
