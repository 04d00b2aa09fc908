// SPDX-License-Identifier: Apache-2.0
//
// A write of one node whose lost answer is looked for. What all recipes use that publish a value.
#pragma once

#include <string>

#include "drover/client.h"

namespace drover::recipes {

// Sets the data, or makes the node, and its parents, if there is none and any version will do. After a lost
// answer the node is read: at the expected version it was not done, and is tried again; with our bytes it
// was done, or somebody wrote the same; otherwise the error stays maybe_applied().
Task<Result<Stat>> write_settled(Client client, std::string path, std::string data, Version expected,
                                 Wait wait = {});

// Makes the node and its parents. kNodeExists: there is one. After a lost answer a first version with our
// bytes is taken for ours; with any other node it is kNodeExists and maybe_applied().
Task<Result<Stat>> create_settled(Client client, std::string path, std::string data, Wait wait = {});

}  // namespace drover::recipes
