// SPDX-License-Identifier: Apache-2.0
//
// What a member of an ensemble reports in four-letter words: its role, its epoch, its followers, the lag of
// each learner, and the reason for the last election.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "config/config.h"
#include "monitor/four_letter_words.h"
#include "net/peer_refusals.h"
#include "replica/member.h"

namespace drover::server {

// Facts of a link that only the owner of the sockets knows.
struct LinkFacts {
  std::string peer;  // "/127.0.0.1:54321"
  std::size_t queued_bytes = 0;
};
using LinkLook = std::function<std::optional<LinkFacts>(zab::LinkId)>;

// Adds the role, the peer state, and whether the server serves clients.
void add_role(const replica::Member& member, Facts& facts);
EnsembleFacts ensemble_facts(const replica::Member& member, const LinkLook& look, Instant now, WallTime wall);
ConfFacts::Quorum quorum_of(const EnsembleConfig& config, const zab::Memberships& memberships);
// Refused connections of the quorum port and the election port; null for a standalone server.
struct PortRefusals {
  const net::PeerRefusals* quorum = nullptr;
  const net::PeerRefusals* election = nullptr;
};
void append_refusals(const PortRefusals& refusals, std::vector<Metric>& metrics);

// Metrics that only a member has; some only a leader.
void append_ensemble_metrics(const replica::Member& member, Instant now, std::vector<Metric>& metrics);

}  // namespace drover::server
