// SPDX-License-Identifier: Apache-2.0
//
// The words that ask a holder to release its node, written into the node.
#pragma once

#include <string_view>

namespace drover::layouts {

inline constexpr std::string_view kRevokeWord = "__REVOKE__";  // Curator's

// ZooKeeper's documentation uses another word.
inline bool is_revocation(std::string_view data) { return data == kRevokeWord || data == "unlock"; }

}  // namespace drover::layouts
