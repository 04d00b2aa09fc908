// SPDX-License-Identifier: Apache-2.0
//
// Names that nobody else uses: the session's id, which is one in the whole ensemble, and a count.
#pragma once

#include <string>

#include "drover/client.h"

namespace drover::recipes {

// 32 hexadecimal digits. The client must have had a session.
std::string new_token(const Client& client);

}  // namespace drover::recipes
