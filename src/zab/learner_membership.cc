// SPDX-License-Identifier: Apache-2.0
//
// A learner's part of a reconfiguration: it logs the new membership, acknowledges it, and takes the role that
// it has in it.
//
// Memberships follow the log, whichever phase we are in: what is in our log is what we vote on if the leader
// is lost. NEWLEADER then names the leader's, which is ours as soon as we have its history.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "zab/learner.h"
#include "zab/membership_text.h"

namespace drover::zab {

using wire::PacketType;

void Learner::on_reconfig(std::string_view text, Zxid zxid, Effects& effects) {
  if (!config_.reconfig_enabled) {
    // Before NEWLEADER it may be an old one that later ones have replaced, and it is not acknowledged yet.
    if (new_leader_seen_) refuse_membership(text, effects);
    return;
  }
  auto next = parse_membership(text, {.multi_address = true});
  if (!next || next->version() != raw(zxid))
    return end("the reconfiguration " + hex_text(zxid) + " cannot be read: " + on_one_line(text));
  if (!memberships_.propose(std::move(*next), effects)) return;
  effects.log.push_back("a new membership is proposed: " + on_one_line(text));
  effects.events.push_back(Event::kMembershipProposed);
}

void Learner::on_commit_and_activate(const wire::QuorumPacket& packet, Effects& effects) {
  const std::string_view data = packet.data.value_or(std::string_view{});
  if (data.size() < sizeof(std::int64_t)) return end("COMMITANDACTIVATE names no leader");
  on_commit(packet.zxid);
  activate(packet.zxid, ServerId{wire::load_be<std::int64_t>(data.data())}, effects);
}

// The id of the next leader precedes the transaction in the packet.
void Learner::on_inform_and_activate(const wire::QuorumPacket& packet, Effects& effects) {
  const std::string_view data = packet.data.value_or(std::string_view{});
  if (data.size() < sizeof(std::int64_t)) return end("INFORMANDACTIVATE has no transaction");
  wire::QuorumPacket plain = packet;
  plain.data = data.substr(sizeof(std::int64_t));
  on_proposal(plain, effects);
  on_commit(packet.zxid);
  activate(packet.zxid, ServerId{wire::load_be<std::int64_t>(data.data())}, effects);
}

// Logged transactions survive a change of leader, so submit them first.
void Learner::activate(Zxid zxid, ServerId leader, Effects& effects) {
  if (over() || !config_.reconfig_enabled) return;
  flush(effects);
  if (over()) return;
  const auto& next = memberships_.proposed();
  if (next && next->version() == raw(zxid)) {
    memberships_.commit(effects);
    effects.log.push_back("the new membership is in force: " +
                          on_one_line(to_text(memberships_.committed())));
    effects.events.push_back(Event::kMembershipActivated);
    if (!memberships_.committed().is_member(config_.me))
      effects.warnings.push_back(
          "this server was removed from the ensemble by a reconfiguration. It has no vote and serves no "
          "clients. It still follows the leader, so that it can be added again; otherwise stop it");
  }
  const bool leader_changes = leader != start_.leader;
  if (!leader_changes && !has_role_changed()) return;
  successor_ = {leader, zxid};
  end(leader_changes ? "the reconfiguration made server " + std::to_string(raw(leader)) + " the leader"
                     : "the reconfiguration changed the role of this server");
}

// A server that is in no membership follows without a vote, as in Java.
bool Learner::has_role_changed() const {
  if (config_.looks_on) return false;
  return memberships_.committed().observers().contains(config_.me) != config_.observer;
}

// NEWLEADER. Our history is the leader's from here on. Versions are zxids of reconfigurations. If they are
// equal, both sides have their membership from a file, and the operator is about to change the files one by
// one.
void Learner::take_membership(std::string_view text, Effects& effects) {
  if (!config_.reconfig_enabled) return refuse_membership(text, effects);
  memberships_.forget_heard();  // It is in this log, or was not agreed on.
  auto leaders = parse_membership(text, {.multi_address = true});
  if (!leaders || leaders->servers().empty()) {
    if (text.empty() || leaders) return;  // Leaders before 3.5 say nothing.
    return end("the leader's membership cannot be read: " + on_one_line(text));
  }
  if (leaders->version() < memberships_.version())
    return end("the leader's membership is older than ours: " + on_one_line(text));
  memberships_.take_from_leader(std::move(*leaders), effects);
}

// The leader's state replaces our log, so the reconfigurations in our log are now those of the state.
// NEWLEADER will say the same. But the leader may be lost before, and then we vote, or even lead, with this
// state. A restart finds the same (host::recover_memberships).
void Learner::take_membership_of_state(std::string_view text, Effects& effects) {
  if (!config_.reconfig_enabled) return;
  const auto& proposed = memberships_.proposed();
  // The beginning of an epoch: a leader has numbered members that came from files, which no log has.
  if (proposed && counter_of(Zxid{proposed->version()}) == 0) return;
  auto logged = parse_membership(text, {.multi_address = true});
  if (!logged || logged->servers().empty() || logged->version() > raw(*snapshot_zxid_)) return;
  memberships_.take_from_leader(std::move(*logged), effects);
}

// UPTODATE: a quorum has acknowledged what NEWLEADER said. But Java's leader may have named a membership that
// it had only proposed; that one is in force when it is committed.
void Learner::complete_membership(Effects& effects) {
  const auto& next = memberships_.proposed();
  const Zxid agreed = std::max(committed_, epoch_start(epoch_));
  if (next && next->version() <= raw(agreed)) {
    memberships_.commit(effects);
    effects.events.push_back(Event::kMembershipActivated);
  }
  if (!config_.reconfig_enabled) return;
  if (!memberships_.is_voter(start_.leader))
    end("the leader is not a voter of the membership that it has completed");
  if (!over() && has_role_changed()) {
    successor_ = {start_.leader, epoch_start(epoch_)};
    end("this server has another role in the leader's membership");
  }
}

// reconfigEnabled=false. A server that continues with the old membership would take part in quorums that are
// no longer valid, so it neither acknowledges the new membership nor stays.
void Learner::refuse_membership(std::string_view text, Effects& effects) {
  const auto theirs = parse_membership(text, {.multi_address = true});
  const Membership& ours = memberships_.committed();
  if (!theirs || theirs->servers().empty() || is_same_membership(*theirs, ours)) return;
  if (theirs->version() <= ours.version()) {
    effects.log.push_back("the leader's configuration has other members than ours: " + on_one_line(text));
    return;
  }
  end("the ensemble was reconfigured");
  effects.halt =
      "the ensemble was reconfigured, but this server has reconfigEnabled=false: the leader's members are "
      "not "
      "those of its configuration. It stops, because votes of the old members could split the ensemble. Set "
      "reconfigEnabled=true, or write the new members into its configuration. They are: " +
      on_one_line(text);
}

}  // namespace drover::zab
