// SPDX-License-Identifier: Apache-2.0
//
// A place that there is one of: an ephemeral node with a fixed name, which whoever makes it first has.
//
// A fixed name says nothing about whose it is: after a lost answer it may be one's own or a successor's, and
// both are at version 0. So beside it there is "<path>.epoch", which every claim changes in the same
// transaction: its data says who made the last claim, and its version is one that no other claim has.
#pragma once

#include <string>
#include <vector>

#include "drover/client.h"
#include "recipes/ticket.h"

namespace drover::recipes {

struct SeatOptions {
  std::string path;
  std::string data = {};
  std::vector<Acl> acl = {};
};

inline std::string epoch_path_of(const std::string& path) { return path + ".epoch"; }

// Waits until it is free, in the present session. kSessionExpired when that is gone.
Task<Result<Ticket>> take_seat_in_session(Client bound, SeatOptions options, Wait wait);
// The same, and again in the next session.
Task<Result<Ticket>> take_seat(Client client, SeatOptions options, Wait wait);

}  // namespace drover::recipes
