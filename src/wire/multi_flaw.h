// SPDX-License-Identifier: Apache-2.0
//
// Why a multi cannot be decoded. Used only for multis that failed to decode; it only decides whether they
// take a zxid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace drover::wire {

enum class MultiFlaw : std::uint8_t {
  kNone,
  kMalformed,  // Java notices it after it has taken a zxid
  kNullAcl,    // in a create, create2 or createContainer: Java notices it before
};

MultiFlaw flaw_of_multi(std::string_view body, std::size_t ops_max);

}  // namespace drover::wire
