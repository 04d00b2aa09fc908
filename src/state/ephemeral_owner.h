// SPDX-License-Identifier: Apache-2.0
//
// The meaning of a node's stored ephemeralOwner: a session, a container, a time to live, or nothing.
//
//   0                       persistent
//   0x8000000000000000      container
//   0xFF00TTTTTTTTTTTT      ttl in ms (40 bits), when extended types are on
//   anything else           id of the session that owns the node
#pragma once

#include <cstdint>
#include <limits>

#include "state/options.h"

namespace drover::state {

enum class NodeKind : std::uint8_t { kPersistent, kEphemeral, kContainer, kTtl };

inline constexpr std::int64_t kContainerOwner = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kTtlMax = 0xFF'FFFF'FFFF;
inline constexpr std::uint64_t kTtlMask = 0xFF00'0000'0000'0000ull;

constexpr std::int64_t owner_of_ttl(std::int64_t ttl_ms) {
  return static_cast<std::int64_t>(kTtlMask | static_cast<std::uint64_t>(ttl_ms));
}

constexpr NodeKind kind_of(std::int64_t owner, bool extended_types, bool emulate_353 = false) {
  if (owner == 0) return NodeKind::kPersistent;
  if (extended_types && emulate_353 && owner < 0 && owner != kContainerOwner) return NodeKind::kTtl;
  if (extended_types && (static_cast<std::uint64_t>(owner) & kTtlMask) == kTtlMask) return NodeKind::kTtl;
  if (owner == kContainerOwner) return NodeKind::kContainer;
  return NodeKind::kEphemeral;
}
inline NodeKind kind_of(std::int64_t owner, const Options& options) {
  return kind_of(owner, options.extended_types, options.emulate_353_ttl);
}

// The ttl of an owner of kind kTtl. Nodes of 3.5.3 set only the top bit.
constexpr std::int64_t ttl_of_owner(std::int64_t owner) {
  if ((static_cast<std::uint64_t>(owner) & kTtlMask) == kTtlMask) return owner & kTtlMax;
  return owner & std::numeric_limits<std::int64_t>::max();
}

static_assert(kind_of(kContainerOwner, true) == NodeKind::kContainer);
static_assert(kind_of(owner_of_ttl(5), true) == NodeKind::kTtl && ttl_of_owner(owner_of_ttl(5)) == 5);
static_assert(kind_of(owner_of_ttl(5), false) == NodeKind::kEphemeral);

}  // namespace drover::state
