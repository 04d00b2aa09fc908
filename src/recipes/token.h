// SPDX-License-Identifier: Apache-2.0
//
// Names that nobody else uses. They are random, and not of the session's id: a client that has not had a
// session yet is asked for them, too.
#pragma once

#include <string>

#include "drover/client.h"

namespace drover::recipes {

// 32 hexadecimal digits. On the executor.
std::string new_token(const Client& client);

}  // namespace drover::recipes
