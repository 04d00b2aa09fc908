// SPDX-License-Identifier: Apache-2.0
//
// Finding out what became of a write whose answer was lost.
#pragma once

#include <optional>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

// The node as it is when everything that was sent before has been done or never will be: sync waits for what
// servers have accepted, and they refuse what comes late.
Task<Result<std::optional<NodeData>>> read_now(Client client, std::string path, Wait wait);

// As write_settled(), but kNoNode if there is no node.
Task<Result<Stat>> set_settled(Client client, std::string path, std::string data, Version expected,
                               Wait wait);

}  // namespace drover::recipes
