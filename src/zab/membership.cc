// SPDX-License-Identifier: Apache-2.0
#include "zab/membership.h"

#include <algorithm>

namespace drover::zab {
namespace {

// An operator sets the weights. Absurd ones may give absurd quorums, as in Java, but no undefined behaviour.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

bool is_majority(const Membership& membership, const ServerSet& servers) {
  const auto votes = std::ranges::count_if(servers, [&](ServerId s) { return membership.is_voter(s); });
  return static_cast<std::size_t>(votes) > membership.voters.size() / 2;
}

struct GroupWeight {
  std::int64_t all = 0;
  std::int64_t agreeing = 0;
};

GroupWeight weigh(const Membership& membership, const std::vector<ServerId>& group,
                  const ServerSet& servers) {
  GroupWeight weight;
  for (const ServerId server : group) {
    const std::int64_t own = membership.weight_of(server);
    weight.all = sum(weight.all, own);
    if (membership.is_voter(server) && servers.contains(server)) weight.agreeing = sum(weight.agreeing, own);
  }
  return weight;
}

}  // namespace

std::int64_t Membership::weight_of(ServerId server) const {
  const std::int64_t unlisted = is_voter(server) ? 1 : 0;
  if (groups.empty()) return unlisted;
  const auto listed = weights.find(server);
  return listed == weights.end() ? unlisted : listed->second;
}

bool Membership::is_quorum(const ServerSet& servers) const {
  if (groups.empty()) return is_majority(*this, servers);
  std::size_t counted = 0;
  std::size_t agreeing = 0;
  for (const auto& [id, group] : groups) {
    const GroupWeight weight = weigh(*this, group, servers);
    // A group without weight neither decides nor blocks a decision.
    if (weight.all == 0) continue;
    ++counted;
    if (weight.agreeing > weight.all / 2) ++agreeing;
  }
  return agreeing > counted / 2;
}

}  // namespace drover::zab
