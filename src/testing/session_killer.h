// SPDX-License-Identifier: Apache-2.0
//
// Ends a session from outside: every client that knows its password can close it.
#pragma once

#include <cstdint>
#include <string>

#include "testing/loopback.h"

namespace drover::testing {

struct SessionKey {
  std::int64_t id = 0;
  std::string password;
};

// Empty: the session is closed. Otherwise the reason why not.
std::string end_session(const Place& server, const SessionKey& key);

}  // namespace drover::testing
