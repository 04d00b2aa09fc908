// SPDX-License-Identifier: Apache-2.0
//
// The words that ask a holder to give something back, written into its node.
#pragma once

#include <string_view>

namespace drover::recipes {

inline constexpr std::string_view kRevokeWord = "__REVOKE__";  // Curator's

// ZooKeeper's own documentation has another one.
inline bool is_revocation(std::string_view data) { return data == kRevokeWord || data == "unlock"; }

}  // namespace drover::recipes
