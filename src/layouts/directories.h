// SPDX-License-Identifier: Apache-2.0
//
// Directories with fixed names, inside a recipe's directory and beside it, and what their nodes mean.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/number.h"

namespace drover::layouts {

inline constexpr std::string_view kLeases = "leases";             // a semaphore's, as Curator writes it
inline constexpr std::string_view kLocks = "locks";               // its mutex
inline constexpr std::string_view kEntries = "entries";           // items of kazoo's LockingQueue
inline constexpr std::string_view kTaken = "taken";               // its items that are claimed
inline constexpr std::string_view kLeaseHolder = "lease_holder";  // the node of a time lease
inline constexpr std::string_view kInnerDirectories[] = {kLeases, kLocks, kEntries, kTaken};

// Endings of names beside a recipe's directory.
inline constexpr std::string_view kBesideDirectory = "-__lock__";  // the mutex of kazoo's semaphore
inline constexpr std::string_view kClaims = ".claims";             // claimed items of a queue
inline constexpr std::string_view kEpoch = ".epoch";               // beside the node of a simple lock

inline bool is_beside_recipe(std::string_view name) {
  constexpr std::string_view kEndings[] = {kClaims, ".turns", ".done", ".puts", ".dead", kBesideDirectory};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// A node's session and the zxid that created it.
struct Creation {
  std::int64_t owner = 0;
  std::int64_t czxid = 0;
};

// A client takes a semaphore's mutex and creates its leases before it knows whether they fit. Leases of the
// mutex's holder that are newer than its mutex node are not granted yet.
constexpr bool is_granted(const Creation& lease, const Creation& mutex_holder) {
  return lease.owner != mutex_holder.owner || lease.czxid <= mutex_holder.czxid;
}

// The number of leases in the data of kazoo's semaphore; empty: it may be a double barrier's parties.
inline std::optional<std::int64_t> leases_max(std::string_view data) {
  return data.starts_with('-') ? std::nullopt : parse_number<std::int64_t>(data);
}

}  // namespace drover::layouts
