// SPDX-License-Identifier: Apache-2.0
//
// Writes one node and resolves a lost reply. Used by all recipes that publish a value.
#pragma once

#include <string>

#include "drover/client.h"

namespace drover::recipes {

// Sets the data, or creates the node and its parents, if it does not exist and any version is allowed. After
// a lost reply the node is read: at the expected version it was not applied, and is retried; with our bytes
// it was applied, or another client wrote the same; otherwise the error is maybe_applied().
Task<Result<Stat>> write_settled(Client client, std::string path, std::string data, Version expected,
                                 Wait wait = {});

// Creates the node and its parents. kNodeExists: it exists. After a lost reply, a first version with our
// bytes counts as ours; any other node is kNodeExists and maybe_applied().
Task<Result<Stat>> create_settled(Client client, std::string path, std::string data, Wait wait = {});

}  // namespace drover::recipes
