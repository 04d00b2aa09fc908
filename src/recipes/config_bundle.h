// SPDX-License-Identifier: Apache-2.0
//
// The two ways of publishing a bundle. See drover/recipes/config_bundle.h for what they promise.
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
// A look at what is published: kNoNode, if nothing is at the moment. `watch` tells when to look again.
Task<Result<Bundle>> look_at_pointer(BundlePlace place, const Watch& watch, Wait wait);

Task<Result<void>> publish_ready(BundlePlace place, Pieces pieces, std::vector<Op> fence, Wait wait);
Task<Result<Bundle>> look_at_ready(BundlePlace place, const Watch& watch, Wait wait);

// All of these children of `path`; none, if one of them is not there.
Task<Result<std::optional<Pieces>>> read_pieces(Client client, std::string path,
                                                std::vector<std::string> names, Wait wait);
// Creates, sets and removes in transactions that servers accept, bounded in bytes and count. Through lost
// connections: what an earlier try has done is not done again, and is no error. Each transaction begins with
// the checks; when one of them fails, that ends it.
Task<Result<void>> write_in_parts(Client client, std::vector<Op> ops, Wait wait, std::vector<Op> checks = {});

}  // namespace drover::recipes
