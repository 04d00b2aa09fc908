// SPDX-License-Identifier: Apache-2.0
//
// The two ways of publishing a bundle; see drover/recipes/config_bundle.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "drover/recipes/config_bundle.h"

namespace drover::recipes {

using Pieces = ConfigBundle::Pieces;

struct BundlePlace {
  Client client;
  std::string path;
};

Task<Result<void>> publish_pointer(BundlePlace place, Pieces pieces, std::vector<Op> fence, Wait wait);
// Reads the publication; kNoNode if there is none now. `watch` reports when to read again.
Task<Result<Bundle>> look_at_pointer(BundlePlace place, const Watch& watch, Wait wait);

Task<Result<void>> publish_ready(BundlePlace place, Pieces pieces, std::vector<Op> fence, Wait wait);
Task<Result<Bundle>> look_at_ready(BundlePlace place, const Watch& watch, Wait wait);

// Reads all these children of `path`; empty if one is missing.
Task<Result<std::optional<Pieces>>> read_pieces(Client client, std::string path,
                                                std::vector<std::string> names, Wait wait);
// Creates, sets and removes in transactions of a size that servers accept, despite lost connections: what an
// earlier try has applied is not repeated and not an error. Each transaction begins with the checks; a failed
// check ends it.
Task<Result<void>> write_in_parts(Client client, std::vector<Op> ops, Wait wait, std::vector<Op> checks = {});

}  // namespace drover::recipes
