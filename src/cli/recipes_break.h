// SPDX-License-Identifier: Apache-2.0
//
// Taking a lock from whoever has it: by deleting its node (release), or by asking for it in the node's data
// (revoke), after somebody has been shown who will lose what.
#pragma once

#include <functional>
#include <string>

#include "cli/recipes_read.h"
#include "drover/client.h"

namespace drover::cli::observe {

enum class Breaking : std::uint8_t { kRelease, kRevoke };

// A node, what it is a part of, and what it is there.
struct Target {
  Stand stand;
  View view;
  std::string place;  // "holds", "is 2. in line"
  std::string next;   // who holds then; empty: nobody
};

// `node` is a part of something, or a lock that one holds. The error says what else to do.
Result<Target> find_target(const Client& client, const std::string& node, const ReadLimits& limits);

// What will happen, in sentences.
std::string consequence_of(const Target& target, Breaking breaking);

// Only if the node is still the one that was shown: same czxid, same version.
Result<void> carry_out(const Client& client, const Target& target, Breaking breaking);

}  // namespace drover::cli::observe
