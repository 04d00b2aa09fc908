// SPDX-License-Identifier: Apache-2.0
//
// Takes a lock from its holder, by deleting its node (release) or by asking for it in the node's data
// (revoke), after showing the user who will lose what.
#pragma once

#include <functional>
#include <string>

#include "cli/recipes/read.h"
#include "drover/client.h"

namespace drover::cli::observe {

enum class Breaking : std::uint8_t { kRelease, kRevoke };

// A node, its recipe, and its place in it.
struct Target {
  Stand stand;
  View view;
  std::string place;  // "holds", "is 2. in line"
  std::string next;   // the next holder; empty: none
};

// `node` belongs to a recipe, or is a lock with one holder. The error says what to do instead.
Result<Target> find_target(const Client& client, const std::string& node, const ReadLimits& limits);

// Says what will happen.
std::string consequence_of(const Target& target, Breaking breaking);

// Only if the node is still the one that was shown: same czxid, same version.
Result<void> carry_out(const Client& client, const Target& target, Breaking breaking);

}  // namespace drover::cli::observe
