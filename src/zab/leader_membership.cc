// SPDX-License-Identifier: Apache-2.0
//
// The leader's part of a reconfiguration: who may join, which quorums count, and who leads afterwards.
//
//   proposed     everything from here on needs a quorum of the old members and one of the new members
//   committed    COMMITANDACTIVATE (INFORMANDACTIVATE for observers) names the leader of the new members
//   activated    only the new members count. If the leader is not one of them, or has moved to another
//                address, its learners leave for the server that it has named, without an election
#include <algorithm>

#include "base/ensure.h"
#include "base/text.h"
#include "zab/leader.h"
#include "zab/membership_text.h"
#include "zab/reconfig_entry.h"

namespace drover::zab {
namespace {

using wire::PacketType;

constexpr std::ptrdiff_t kGuestsMax = 16;

std::vector<std::pair<std::string, std::uint16_t>> quorum_addresses(const Membership& members,
                                                                    ServerId server) {
  std::vector<std::pair<std::string, std::uint16_t>> addresses;
  const auto found = members.servers().find(server);
  if (found == members.servers().end()) return addresses;
  for (const PeerAddress& each : found->second.addresses) addresses.emplace_back(each.host, each.quorum_port);
  std::ranges::sort(addresses);
  return addresses;
}

}  // namespace

// A learner gets the whole tree, whatever its ACLs say. So only members may join. Where the members can
// change, a future member must be synced before it counts, and so a few others may join, too.
bool Leader::is_member_or_guest(const LearnerLink& learner) const {
  if (learner.server == config_.me) return false;
  if (memberships_.is_member(learner.server)) return true;
  const auto guests = std::ranges::count_if(learners_, [&](const auto& each) {
    return each.second.stage != Stage::kGreeting && !memberships_.is_member(each.second.server);
  });
  return config_.reconfig_enabled && guests < kGuestsMax;
}

void Leader::count_voters_again() {
  for (auto& [link, learner] : learners_) {
    if (learner.stage != Stage::kGreeting)
      learner.voter = !learner.observer && memberships_.is_voter(learner.server);
  }
}

ServerSet Leader::synced() const {
  ServerSet servers{config_.me};
  for (const auto& [link, learner] : learners_) {
    // A server that the last reconfiguration made an observer is about to come again as one.
    const bool acknowledges =
        !learner.observer && !memberships_.committed().observers().contains(learner.server);
    if (learner.stage == Stage::kActive && acknowledges) servers.insert(learner.server);
  }
  return servers;
}

// Members that come from files have no version. The first leader gives them one, so that they outrank the
// file of a server that wants to join, which may list other members (ZOOKEEPER-1783).
void Leader::number_first_membership(Effects& effects) {
  if (!config_.reconfig_enabled || memberships_.last_seen().version() != 0) return;
  Membership numbered = memberships_.committed();
  numbered.set_version(raw(epoch_start(epoch_)));
  memberships_.propose(std::move(numbered), effects);
}

// A quorum of both memberships has acknowledged NEWLEADER, which named the newer one.
void Leader::complete_membership(Instant now, Effects& effects) {
  if (!memberships_.proposed()) return;
  const bool stays = memberships_.proposed()->is_voter(config_.me);
  memberships_.commit(effects);
  effects.events.push_back(Event::kMembershipActivated);
  count_voters_again();
  // UPTODATE has told the learners. They see by themselves that their leader is not a member.
  if (!stays) hand_over(now, effects);
}

void Leader::see_reconfig(const TxnBatch& batch, Effects& effects) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!is_reconfig(batch.entry(i))) continue;
    auto next = parse_membership(membership_in(batch.entry(i)), {.multi_address = true});
    ENSURE(next.has_value(), "a leader proposes only memberships that it can read");
    ENSURE(next->version() == raw(batch.first) + static_cast<std::int64_t>(i),
           "the version of a membership is the zxid of its transaction");
    ENSURE(!memberships_.proposed(), "one reconfiguration at a time");
    effects.log.push_back("proposing a new membership: " + on_one_line(membership_in(batch.entry(i))));
    effects.events.push_back(Event::kMembershipProposed);
    memberships_.propose(std::move(*next), effects);
    count_voters_again();
  }
}

bool Leader::activates(Zxid until) const {
  const auto& next = memberships_.proposed();
  return next && Zxid{next->version()} > history_.committed() && Zxid{next->version()} <= until;
}

void Leader::activate(Instant now, Effects& effects) {
  const Membership next = *memberships_.proposed();
  const Zxid zxid{next.version()};
  const ServerId leader = keeps_leading(next) ? config_.me : designated_leader();
  std::string named;
  wire::Writer(named).i64(raw(leader));
  std::string inform = named;
  history_.for_each(Zxid{raw(zxid) - 1}, zxid, [&](Zxid, std::string_view entry) { inform += entry; });
  for (auto& [link, learner] : learners_) {
    if (!learner.is_forwarded_to()) continue;
    const auto type = learner.observer ? PacketType::kInformAndActivate : PacketType::kCommitAndActivate;
    wire::append_packet(effects.to(link), type, zxid, learner.observer ? inform : named);
    ++learner.traffic.packets_sent;
  }
  ++counts_.commits;
  history_.set_committed(zxid);
  memberships_.commit(effects);
  effects.log.push_back("the new membership is in force: " + on_one_line(to_text(next)));
  effects.events.push_back(Event::kMembershipActivated);
  count_voters_again();
  if (leader == config_.me) return;
  successor_ = leader;
  hand_over(now, effects);
}

bool Leader::keeps_leading(const Membership& next) const {
  return next.is_voter(config_.me) &&
         quorum_addresses(next, config_.me) == quorum_addresses(memberships_.committed(), config_.me);
}

// The new voter that has logged most: the less it lacks, the fewer requests fail.
ServerId Leader::designated_leader() const {
  const Membership& next = *memberships_.proposed();
  const LearnerLink* best = nullptr;
  for (const auto& [link, learner] : learners_) {
    const bool eligible = next.is_voter(learner.server) && next.weight_of(learner.server) > 0 &&
                          !learner.observer && learner.stage >= Stage::kSynced &&
                          raw(learner.acked) >= next.version();
    if (eligible && (!best || learner.acked > best->acked)) best = &learner;
  }
  return best ? best->server : config_.me;  // None: we are the only voter, at a new address.
}

// We commit and propose nothing more. The learners close their links, so that none misses what we sent last.
void Leader::hand_over(Instant now, Effects& effects) {
  effects.events.push_back(Event::kHandedOver);
  phase_ = Phase::kHandingOver;
  phase_began_ = now;
  check_handover(now);
}

void Leader::check_handover(Instant now) {
  if (phase_ != Phase::kHandingOver || (has_learners() && now < next_time())) return;
  end(successor_ ? "the reconfiguration made server " + std::to_string(raw(*successor_)) + " the leader"
                 : "this server does not lead the new members");
}

}  // namespace drover::zab
