// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/leader_info_election.h"

#include <utility>

#include "recipes/elections/election.h"
#include "recipes/locks/seat.h"

namespace drover::recipes {

LeaderInfoElection::LeaderInfoElection(Client client, std::string path, std::string info,
                                       LeaderInfoOptions options) {
  SeatOptions seat{std::move(path), std::move(info), std::move(options.acl)};
  election_ =
      Election::begin(std::move(client), options.loss, [seat = std::move(seat)](Client where, Wait wait) {
        return take_seat(std::move(where), seat, std::move(wait));
      });
}

LeaderInfoElection& LeaderInfoElection::operator=(LeaderInfoElection&& other) noexcept {
  if (election_ && this != &other) election_->stop();
  election_ = std::move(other.election_);
  return *this;
}

LeaderInfoElection::~LeaderInfoElection() {
  if (election_) election_->stop();
}

bool LeaderInfoElection::is_leader() const { return election_->is_leader(); }
Task<Result<Leadership>> LeaderInfoElection::await(Wait wait) const {
  return Election::await(election_, std::move(wait));
}
Task<Result<void>> LeaderInfoElection::resign(Wait wait) {
  return Election::resign(election_, std::move(wait));
}
Stream<bool> LeaderInfoElection::changes() const { return Election::changes(election_); }

}  // namespace drover::recipes
