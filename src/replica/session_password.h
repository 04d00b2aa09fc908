// SPDX-License-Identifier: Apache-2.0
//
// A session's password is a function of its id, so that any server can check it.
//
// The function is Java's: 16 bytes of java.util.Random seeded with the id and a constant. It keeps honest
// clients from mixing up sessions; anybody who knows the id can compute it.
#pragma once

#include <array>
#include <string_view>

#include "base/ids.h"

namespace drover::replica {

std::array<char, 16> session_password(SessionId session);
// Compares in constant time. Id 0 has no password.
bool is_session_password(SessionId session, std::string_view password);

}  // namespace drover::replica
