// SPDX-License-Identifier: Apache-2.0
//
// What a member of an ensemble tells about itself in four-letter words: its role, its epoch, who follows, how
// far behind each learner is, and why the last election happened.
#pragma once

#include "replica/member.h"
#include "server/config.h"
#include "server/four_letter_words.h"

namespace drover::server {

// Role and peer state; whether it serves.
void add_role(const replica::Member& member, Facts& facts);
EnsembleFacts ensemble_facts(const replica::Member& member);
ConfFacts::Quorum quorum_of(const EnsembleConfig& config);
// What a server has been through; of a server alone, nothing.
void append_peer_counts(const zab::PeerCounts& counts, std::vector<Metric>& metrics);
// Java's metrics of a leader and of a member, then our own.
void append_ensemble_metrics(const replica::Member& member, Instant now, std::vector<Metric>& metrics);

}  // namespace drover::server
