// SPDX-License-Identifier: Apache-2.0
//
// Unique names. They are random and do not use the session id, because a client without a session needs them,
// too.
#pragma once

#include <string>

#include "drover/client.h"

namespace drover::recipes {

// 32 hexadecimal digits. On the executor.
std::string new_token(const Client& client);

}  // namespace drover::recipes
