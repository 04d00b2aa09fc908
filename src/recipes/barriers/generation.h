// SPDX-License-Identifier: Apache-2.0
//
// Gathers the parties of a barrier, round after round, so that all parties of a round agree on its members.
//
//   <path>                  {"parties":N}
//   <path>/current          the number of the round that gathers now
//   <path>/g-<k>/_c_<uuid>-m-<seq>   one who has arrived; ephemeral
//   <path>/g-<k>/open       who is in: their sequence numbers in the order of arrival; or "broken"
//
// A party that sees N members opens the round in one transaction that checks that each of them still exists,
// writes their numbers and advances `current`. So all N were present at one moment, and a late party finds
// that it is not in the list and goes to the next round. Parties watch only `open`: N notifications per round
// instead of N per arrival.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/common/steps.h"

namespace drover::recipes {

struct Gathering {
  std::string path;
  int parties = 0;
  bool breaks = false;  // a party that leaves breaks the round for all
  std::string party{};  // stored in its node; nodes of its earlier sessions are removed. Empty: no name
};

// An open round, as seen by one of its members.
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

// Arrives and waits until a round with us in it opens. If the wait ends before, our node is removed in the
// background; the error says that we may have been counted (maybe_applied).
Task<Result<Round>> gather(Client client, Gathering gathering, Wait wait);

// Removes the rest of an open round if all its members have left.
Task<Result<void>> retire_round(Client client, std::string directory, Wait wait);
// The same for all earlier rounds, whose last member may have died before it could.
Task<Result<void>> retire_rounds_before(Client client, std::string directory, Wait wait);

// Removes our own node and waits until all members have left. It costs at most two notifications each: the
// lowest waits for the highest, all others leave and wait for the lowest.
Task<Result<void>> leave_together(Client client, std::string directory, OwnNode own,
                                  std::function<bool(std::string_view)> is_member, Wait wait);

}  // namespace drover::recipes
