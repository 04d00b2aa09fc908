// SPDX-License-Identifier: Apache-2.0
//
// Ends a session from outside: whoever knows its password may close it.
#pragma once

#include <cstdint>
#include <string>

#include "testing/loopback.h"

namespace drover::testing {

struct SessionKey {
  std::int64_t id = 0;
  std::string password;
};

// Empty: it is ended. Otherwise why not.
std::string end_session(const Place& server, const SessionKey& key);

}  // namespace drover::testing
