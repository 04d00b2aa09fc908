// SPDX-License-Identifier: Apache-2.0
//
// How barriers gather their parties, round after round, so that all of a round agree on who is in it.
//
//   <path>                  {"parties":N}
//   <path>/current          the number of the round that gathers now
//   <path>/g-<k>/_c_<uuid>-m-<seq>   one who has arrived; ephemeral
//   <path>/g-<k>/open       who is in: their sequence numbers in the order of arrival; or "broken"
//
// Whoever sees N members opens the round, in one transaction that checks that each of them is still there,
// writes their numbers and moves `current` on. So at one instant all N were there, and whoever came too late
// finds that it is not in the list and goes to the next round. Everybody watches `open` only: N notifications
// a round, and not N for each arrival.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/steps.h"

namespace drover::recipes {

struct Gathering {
  std::string path;
  int parties = 0;
  bool breaks = false;  // one who goes away breaks the round for all
  std::string party{};  // in the data of its node; those of its earlier sessions are removed. Empty: nobody's
};

// A round that has opened, as one of its members has it.
struct Round {
  std::string directory;
  OwnNode own;
  std::int32_t sequence = 0;
  std::vector<std::int32_t> members;  // in the order of arrival

  int index() const;
  bool has_member(std::string_view name) const;
};

// Removes a node that only this party makes, if it is of another session than the client's: of a process that
// crashed.
Task<Result<void>> remove_former_life(Client client, std::string path, Wait wait);

// Arrives and waits until a round has opened that has us in it. If the wait ends before, our node is removed
// in the background; the error then says that we may have been counted (maybe_applied).
Task<Result<Round>> gather(Client client, Gathering gathering, Wait wait);

// Removes what is left of a round that has opened, if none of its members is left.
Task<Result<void>> retire_round(Client client, std::string directory, Wait wait);
// The same for all rounds before this one: those whose last member died before it could.
Task<Result<void>> retire_rounds_before(Client client, std::string directory, Wait wait);

// Removes our own node and waits until nobody is left of those who are members. At most two notifications
// each: the lowest waits for the highest, all others go and wait for the lowest.
Task<Result<void>> leave_together(Client client, std::string directory, OwnNode own,
                                  std::function<bool(std::string_view)> is_member, Wait wait);

}  // namespace drover::recipes
