// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether a write with a lost reply was applied.
#pragma once

#include <optional>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

// The node after everything that was sent before has been applied or refused: sync waits for accepted
// requests, and servers refuse late ones.
Task<Result<std::optional<NodeData>>> read_now(Client client, std::string path, Wait wait);

// As write_settled(), but kNoNode if the node does not exist.
Task<Result<Stat>> set_settled(Client client, std::string path, std::string data, Version expected,
                               Wait wait);

}  // namespace drover::recipes
