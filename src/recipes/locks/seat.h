// SPDX-License-Identifier: Apache-2.0
//
// An ephemeral node with a fixed name: the client that creates it has the seat.
//
// A fixed name does not show its owner: after a lost reply it may be our own node or a successor's, both at
// version 0. So each claim also changes "<path>.epoch" in the same transaction: its data names the last
// claim, and its version belongs to no other claim.
#pragma once

#include <string>
#include <vector>

#include "drover/client.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {

struct SeatOptions {
  std::string path;
  std::string data = {};
  std::vector<Acl> acl = {};
};

inline std::string epoch_path_of(const std::string& path) { return path + ".epoch"; }

// Waits until it is free, in the current session. kSessionExpired if that is gone.
Task<Result<Ticket>> take_seat_in_session(Client bound, SeatOptions options, Wait wait);
// The same, also in the next session.
Task<Result<Ticket>> take_seat(Client client, SeatOptions options, Wait wait);

}  // namespace drover::recipes
