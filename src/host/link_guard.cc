// SPDX-License-Identifier: Apache-2.0
#include "host/link_guard.h"

#include "wire/quorum.h"

namespace drover::host {

std::optional<zab::LinkId> LinkGuard::crowded_out() const {
  if (deadlines_.size() < limits_.ungreeted_max) return std::nullopt;
  return deadlines_.begin()->first;
}

std::vector<zab::LinkId> LinkGuard::late(Instant now) const {
  std::vector<zab::LinkId> late;
  for (const auto& [id, deadline] : deadlines_) {
    if (deadline <= now) late.push_back(id);
  }
  return late;
}

std::optional<Instant> LinkGuard::next_time() const {
  // All have the same time, so the oldest is the first whose time is over.
  return deadlines_.empty() ? std::nullopt : std::optional(deadlines_.begin()->second);
}

LinkGuard::Judgement LinkGuard::judge(std::string_view bytes, const zab::Memberships& memberships) const {
  wire::QuorumPacket packet;
  const wire::DecodedPacket decoded = wire::decode_packet(bytes, wire::kIntroductionLimits, packet);
  if (decoded.status == wire::Decoded::kNeedMore) return {Greeting::kIncomplete};
  if (decoded.status != wire::Decoded::kComplete) return {Greeting::kInvalid};
  const auto info = wire::decode_learner_info(packet.data);
  if (!info) return {Greeting::kInvalid};
  // A server that is about to join is not a member yet; the leader limits how many of them there are.
  const bool is_welcome = reconfig_enabled_ || memberships.is_member(info->server);
  return {info->server != me_ && is_welcome ? Greeting::kGood : Greeting::kNoMember, info->server};
}

}  // namespace drover::host
