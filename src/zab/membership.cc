// SPDX-License-Identifier: Apache-2.0
#include "zab/membership.h"

#include <algorithm>
#include <utility>

namespace drover::zab {
namespace {

// An operator sets the weights. Absurd ones may give absurd quorums, as in Java, but no undefined behaviour.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

bool is_majority(const Membership& membership, const ServerSet& servers) {
  const auto votes = std::ranges::count_if(servers, [&](ServerId s) { return membership.is_voter(s); });
  return static_cast<std::size_t>(votes) > membership.voters().size() / 2;
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

// The members of each group as a set, and every weight: the same however the text is written.
auto decisive_part(const Membership& membership) {
  std::map<std::int64_t, ServerSet> groups;
  std::map<ServerId, std::int64_t> weights;
  for (const auto& [group, servers] : membership.groups()) {
    groups[group].insert(servers.begin(), servers.end());
    for (const ServerId server : servers) weights[server] = membership.weight_of(server);
  }
  return std::pair(groups, weights);
}

}  // namespace

void Membership::add(PeerSpec server) {
  const ServerId id = server.id;
  remove(id);
  (server.type == PeerType::kObserver ? observers_ : voters_).insert(id);
  servers_.emplace(id, std::move(server));
}

void Membership::remove(ServerId server) {
  servers_.erase(server);
  voters_.erase(server);
  observers_.erase(server);
}

std::int64_t Membership::weight_of(ServerId server) const {
  const std::int64_t unlisted = is_voter(server) ? 1 : 0;
  if (groups_.empty()) return unlisted;
  const auto listed = weights_.find(server);
  return listed == weights_.end() ? unlisted : listed->second;
}

bool Membership::is_quorum(const ServerSet& servers) const {
  if (groups_.empty()) return is_majority(*this, servers);
  std::size_t counted = 0;
  std::size_t agreeing = 0;
  for (const auto& [id, group] : groups_) {
    const GroupWeight weight = weigh(*this, group, servers);
    // A group without weight neither decides nor blocks a decision.
    if (weight.all == 0) continue;
    ++counted;
    if (weight.agreeing > weight.all / 2) ++agreeing;
  }
  return agreeing > counted / 2;
}

bool is_same_membership(const Membership& a, const Membership& b) {
  return a.voters() == b.voters() && a.observers() == b.observers() && decisive_part(a) == decisive_part(b);
}

}  // namespace drover::zab
