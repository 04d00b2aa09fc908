// SPDX-License-Identifier: Apache-2.0
//
// What a member of an ensemble tells about itself in four-letter words: its role, its epoch, who follows, how
// far behind each learner is, and why the last election happened.
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

// What only the sockets' owner knows of a link.
struct LinkFacts {
  std::string peer;  // "/127.0.0.1:54321"
  std::size_t queued_bytes = 0;
};
using LinkLook = std::function<std::optional<LinkFacts>(zab::LinkId)>;

// Role and peer state; whether it serves.
void add_role(const replica::Member& member, Facts& facts);
EnsembleFacts ensemble_facts(const replica::Member& member, const LinkLook& look, Instant now, WallTime wall);
ConfFacts::Quorum quorum_of(const EnsembleConfig& config);
// What a server has been through; of a server alone, nothing.
// Of the quorum and the election port; null: a server alone.
struct PortRefusals {
  const net::PeerRefusals* quorum = nullptr;
  const net::PeerRefusals* election = nullptr;
};
void append_refusals(const PortRefusals& refusals, std::vector<Metric>& metrics);

void append_peer_counts(const zab::PeerCounts& counts, std::vector<Metric>& metrics);
// Java's metrics of a leader and of a member, then our own.
void append_ensemble_metrics(const replica::Member& member, Instant now, std::vector<Metric>& metrics);

}  // namespace drover::server
