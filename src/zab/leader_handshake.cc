// SPDX-License-Identifier: Apache-2.0
//
// The handshake with one learner, from a new link until it is synced with us.
#include "zab/leader_handshake.h"

#include <algorithm>
#include <optional>

#include "wire/quorum.h"
#include "zab/epoch_claim.h"
#include "zab/leader.h"
#include "zab/membership_text.h"
#include "zab/sync_plan.h"

namespace drover::zab {
namespace {

using wire::PacketType;

}  // namespace

const char* name_of(LearnerLink::Stage stage) {
  switch (stage) {
    case LearnerLink::Stage::kGreeting: return "greeting";
    case LearnerLink::Stage::kWaiting: return "waiting for an epoch";
    case LearnerLink::Stage::kPromising: return "promising the epoch";
    case LearnerLink::Stage::kPromised: return "waiting for a quorum of promises";
    case LearnerLink::Stage::kSending: return "receiving our state or our log";
    case LearnerLink::Stage::kSyncing: return "synchronising";
    case LearnerLink::Stage::kSynced: return "synchronised";
    case LearnerLink::Stage::kActive: return "active";
  }
  return "?";
}

void Leader::on_packet(LinkId link, const wire::QuorumPacket& packet, Instant now, Effects& effects) {
  const auto found = learners_.find(link);
  if (found == learners_.end() || over() || phase_ == Phase::kHandingOver) return;
  LearnerLink& learner = found->second;
  learner.last_heard = now;
  ++learner.traffic.packets_received;
  switch (learner.stage) {
    case Stage::kGreeting: return on_info(learner, packet, now, effects);
    case Stage::kPromising: return on_epoch_ack(learner, packet, now, effects);
    case Stage::kSyncing: return on_new_leader_ack(learner, packet, now, effects);
    case Stage::kSynced:
    case Stage::kActive: return on_active_packet(learner, packet, now, effects);
    case Stage::kWaiting:
    case Stage::kPromised:
    case Stage::kSending: return drop(link, "it sent a packet out of turn", effects);
  }
}

void Leader::on_info(LearnerLink& learner, const wire::QuorumPacket& packet, Instant now, Effects& effects) {
  const bool observer = packet.type == PacketType::kObserverInfo;
  if (!observer && packet.type != PacketType::kFollowerInfo)
    return drop(learner.link, "its first packet is neither FOLLOWERINFO nor OBSERVERINFO", effects);
  const auto info = wire::decode_learner_info(packet.data);
  if (!info) return drop(learner.link, "its greeting has no server id", effects);
  learner.server = info->server;
  if (info->protocol_version < wire::kQuorumProtocolVersion)
    return drop(learner.link, "it uses the protocol from before 3.4, which cannot sync safely", effects);
  if (!is_member_or_guest(learner)) return drop(learner.link, "it is not a member of this ensemble", effects);
  if (info->config_version > memberships_.version())
    return drop(learner.link, "it has a later membership than this server", effects);
  if (!is_believable_epoch(epoch_of(packet.zxid), known_epoch()))
    return drop(learner.link,
                "it claims to have promised epoch " + std::to_string(epoch_of(packet.zxid)) +
                    ", which is too far above " + std::to_string(known_epoch()) + ", the highest known here",
                effects);

  if (parted_from(learner, *info, effects)) return;

  learner.observer = observer;
  learner.voter = !observer && memberships_.is_voter(info->server);
  enter(learner, Stage::kWaiting, now);
  // Each server has one link: the newer one is the one that it still knows of.
  for (auto other = learners_.begin(); other != learners_.end();) {
    const auto& [link, rival] = *other++;
    if (link == learner.link || rival.server != learner.server || rival.stage == Stage::kGreeting) continue;
    effects.events.push_back(Event::kSecondLink);
    drop(link, "the same server has come again", effects);
  }
  const std::uint32_t accepted = epoch_of(packet.zxid);
  if (epoch_chosen_ && accepted > epoch_) {
    if (memberships_.is_member(learner.server)) return make_way(learner, accepted, effects);
    return drop(learner.link, "it has promised a later epoch than ours, and is not a member", effects);
  }
  if (!epoch_chosen_) {
    if (learner.voter)
      accepted_epochs_[learner.server] = accepted;
    else
      epoch_ = std::max(epoch_, accepted + 1);
    choose_epoch(now, effects);
  }
  if (epoch_accepted_here_) propose_epoch(learner, now, effects);
}

// The learner has promised a later epoch to a candidate that did not become the leader. It may not follow us:
// the other leader could still overrule what it acknowledged here. As long as we lead it would be left out,
// so another epoch is needed, as in Raft. We accept the later epoch too, without promising it to a leader: so
// the next leader hears of it from us too, if it is another server. A promise of a higher epoch than
// necessary is safe, because it can only refuse a leader. A server that is cut off cannot drive epochs up
// this way: an epoch is chosen, and so promised, only where a quorum has reported.
void Leader::make_way(const LearnerLink& learner, std::uint32_t accepted, Effects& effects) {
  effects.disk.emplace_back(SaveEpoch{EpochKind::kAccepted, accepted});
  effects.events.push_back(Event::kMadeWay);
  end("server " + std::to_string(raw(learner.server)) +
      " has promised a later epoch than ours: " + std::to_string(accepted));
}

void Leader::propose_epoch(LearnerLink& learner, Instant now, Effects& effects) {
  enter(learner, Stage::kPromising, now);
  send_leader_info(learner, effects);
}

void Leader::send_leader_info(const LearnerLink& learner, Effects& effects) const {
  wire::LeaderInfo info;
  info.history = {.id = history_id_, .empty = raw(history_.last()) == 0, .agreed = is_history_agreed()};
  wire::append_packet(effects.to(learner.link), PacketType::kLeaderInfo, epoch_start(epoch_),
                      wire::encode(info));
}

// A learner that holds transactions of another history than ours gets nothing of ours. Once our history is
// agreed on, the learner is told which one we lead, and stops. A history that has not begun yet does not
// begin beside it.
bool Leader::parted_from(const LearnerLink& learner, const wire::LearnerInfo& info, Effects& effects) {
  if (info.history == 0 || info.history == history_id_) return false;
  if (begins_history() && !epoch_promised_ && memberships_.is_voter(info.server)) {
    end("server " + std::to_string(raw(info.server)) + " has a history, but this server has none");
    return true;
  }
  if (history_id_ == 0) return false;
  if (is_history_agreed()) send_leader_info(learner, effects);
  drop(learner.link, "it has a different history: one of the two was started from scratch", effects);
  return true;
}

void Leader::on_epoch_ack(LearnerLink& learner, const wire::QuorumPacket& packet, Instant now,
                          Effects& effects) {
  const auto current = wire::decode_int(packet.data);
  if (packet.type != PacketType::kAckEpoch || !current)
    return drop(learner.link, "it does not answer LEADERINFO with ACKEPOCH", effects);
  learner.reported_last = packet.zxid;
  // -1: it had promised this epoch before, perhaps to another candidate. It may be synchronised, but only a
  // first promise counts, so that no two leaders can be established in one epoch.
  const bool promised_before = *current == -1;
  // Once a quorum has promised, a transaction that only this learner has was never agreed on, and is cut off.
  if (!promised_before && !epoch_promised_) {
    const auto theirs = std::pair{static_cast<std::uint32_t>(*current), packet.zxid};
    if (theirs > std::pair{began_with_.current, began_with_last_}) {
      if (learner.voter && began_empty())
        end("server " + std::to_string(raw(learner.server)) + " has a history, but this server has none");
      return drop(learner.link, "it has a later history than this server and should lead", effects);
    }
  }
  // A learner that does not know its own history may follow, but its promise proves nothing about what was
  // committed.
  if (!promised_before && learner.voter && raw(packet.zxid) >= 0) promised_.insert(learner.server);
  enter(learner, Stage::kPromised, now);
  if (epoch_promised_) return synchronise(learner, now, effects);
  count_epoch_acks(now, effects);
}

// May drop the learner.
void Leader::synchronise(LearnerLink& learner, Instant now, Effects& effects) {
  using Way = LearnerLink::Way;
  const SyncPlan plan = plan_sync(history_, {.learner_last = learner.reported_last,
                                             .our_epoch = began_with_.current,
                                             .force_snapshot = config_.sync.force_snapshot,
                                             .use_log = may_read_log(learner)});
  const bool snap = plan.kind == SyncPlan::Kind::kSnap;
  if (!admit(learner, snap ? Way::kSnap : Way::kDiff, effects)) return;
  switch (plan.kind) {
    case SyncPlan::Kind::kDiff:
      tell_sync(learner, "DIFF", Event::kSyncedWithDiff, effects);
      wire::append_packet(effects.to(learner.link), PacketType::kDiff, history_.committed());
      return send_history(learner, plan.from, now, effects);
    case SyncPlan::Kind::kTrunc:
      tell_sync(learner, "TRUNC", Event::kSyncedWithTrunc, effects);
      wire::append_packet(effects.to(learner.link), PacketType::kTrunc, plan.from);
      return send_history(learner, plan.from, now, effects);
    case SyncPlan::Kind::kLogDiff:
      tried_log_.insert(learner.server);
      begin_sending(learner, history_.window_begin(), now);
      effects.send.push_back({learner.link, {}, false, LogRange{plan.from, learner.sent}});
      return;
    case SyncPlan::Kind::kSnap: return send_state(learner, now, effects);
  }
}

// Once: if anything goes wrong with a DIFF from the log files, the learner comes again and gets a state,
// which needs no files. Only members, so that nobody can make us remember more.
bool Leader::may_read_log(const LearnerLink& learner) const {
  return config_.sync.use_log && memberships_.is_member(learner.server) &&
         !tried_log_.contains(learner.server);
}

// The same rule as Java's. An observer that is refused tries again.
bool Leader::admit(LearnerLink& learner, LearnerLink::Way way, Effects& effects) {
  const bool snap = way == LearnerLink::Way::kSnap;
  learner.way = LearnerLink::Way::kNone;
  const std::size_t under_way = synced_by(way);
  if (learner.observer && under_way >= (snap ? config_.sync.snaps_max : config_.sync.diffs_max)) {
    ++counts_.syncs_refused;
    drop(learner.link,
         "too many learners (" + std::to_string(under_way) + ") are being synced with " +
             (snap ? "SNAP (leader.maxConcurrentSnapSyncs)" : "DIFF (leader.maxConcurrentDiffSyncs)"),
         effects);
    return false;
  }
  learner.way = way;
  return true;
}

std::size_t Leader::synced_by(LearnerLink::Way way) const {
  return static_cast<std::size_t>(std::ranges::count_if(learners_, [&](const auto& each) {
    return each.second.way == way &&
           (each.second.is_synchronising() || each.second.stage == Stage::kPromised);
  }));
}

// Everything after `from` stays in memory until all up to there has been sent.
void Leader::begin_sending(LearnerLink& learner, Zxid from, Instant now) {
  learner.sent = from;
  enter(learner, Stage::kSending, now);
  keep_for_learners();
}

void Leader::send_state(LearnerLink& learner, Instant now, Effects& effects) {
  tell_sync(learner, "SNAP", Event::kSyncedWithSnap, effects);
  begin_sending(learner, history_.applied(), now);  // The state in memory is what is sent.
  wire::append_packet(effects.to(learner.link), PacketType::kSnap, learner.sent);
  effects.send.push_back({learner.link, {}, true});
}

// Its first packet, DIFF, TRUNC or SNAP, follows.
void Leader::tell_sync(LearnerLink& learner, const char* how, Event event, Effects& effects) {
  const bool snap = learner.way == LearnerLink::Way::kSnap;
  ++(snap ? counts_.snaps : counts_.diffs);
  (snap ? counts_.snaps_under_way : counts_.diffs_under_way).add(synced_by(learner.way));
  ++learner.traffic.packets_sent;
  effects.events.push_back(event);
  effects.log.push_back("learner " + std::to_string(raw(learner.server)) + " is synced with " + how);
}

void Leader::on_log_ready(LinkId link, Instant now, Effects& effects) {
  const auto found = learners_.find(link);
  if (found == learners_.end() || over() || found->second.stage != Stage::kSending) return;
  LearnerLink& learner = found->second;
  learner.last_heard = now;
  learner.log_begun = true;
  tell_sync(learner, "DIFF from the log files", Event::kSyncedWithLog, effects);
  wire::append_packet(effects.to(link), PacketType::kDiff, history_.committed());
}

void Leader::on_no_log(LinkId link, Instant now, Effects& effects) {
  const auto found = learners_.find(link);
  if (found == learners_.end() || over() || found->second.stage != Stage::kSending) return;
  if (found->second.log_begun) return drop(link, "the log files cannot be read to the end", effects);
  if (admit(found->second, LearnerLink::Way::kSnap, effects)) send_state(found->second, now, effects);
}

// The state that was sent holds some of what was committed meanwhile. It is exact once all of that has been
// sent again, so NEWLEADER waits until the state has left (ZOOKEEPER-3104). A log ends where the window began
// when it was asked for.
void Leader::on_state_sent(LinkId link, Instant now, Effects& effects) {
  const auto found = learners_.find(link);
  if (found == learners_.end() || over() || found->second.stage != Stage::kSending) return;
  found->second.last_heard = now;
  tried_log_.erase(found->second.server);
  send_history(found->second, found->second.sent, now, effects);
  keep_for_learners();
}

// Transactions that a learner will get after our state or our log must still be in memory then.
void Leader::keep_for_learners() {
  std::optional<Zxid> keep;
  for (const auto& [link, learner] : learners_) {
    if (learner.stage == Stage::kSending && (!keep || learner.sent < *keep)) keep = learner.sent;
  }
  history_.keep_after(keep);
}

// Sends committed transactions as proposal and commit, then NEWLEADER, then, to learners that acknowledge,
// the uncommitted ones. These must not come before NEWLEADER: servers of 3.8 then forget them, and fail at
// their commit.
void Leader::send_history(LearnerLink& learner, Zxid after, Instant now, Effects& effects) {
  std::string& out = effects.to(learner.link);
  history_.for_each(after, history_.committed(), [&](Zxid zxid, std::string_view entry) {
    wire::append_packet(out, PacketType::kProposal, zxid, entry);
    wire::append_packet(out, PacketType::kCommit, zxid);
    learner.traffic.packets_sent += 2;
  });
  learner.acked = history_.committed();
  enter(learner, Stage::kSyncing, now);
  // Before we are established, the proposed membership is what the quorum must agree on. Later it is a
  // proposal like others, and follows.
  const Membership& membership =
      phase_ == Phase::kBroadcast ? memberships_.committed() : memberships_.last_seen();
  wire::append_packet(out, PacketType::kNewLeader, epoch_start(epoch_), to_text(membership));
  ++learner.traffic.packets_sent;
  if (learner.observer) return;
  history_.for_each(history_.committed(), history_.last(), [&](Zxid zxid, std::string_view entry) {
    wire::append_packet(out, PacketType::kProposal, zxid, entry);
    ++learner.traffic.packets_sent;
  });
}

void Leader::on_new_leader_ack(LearnerLink& learner, const wire::QuorumPacket& packet, Instant now,
                               Effects& effects) {
  if (packet.type != PacketType::kAck)
    return drop(learner.link, "it does not acknowledge NEWLEADER", effects);
  if (packet.zxid != epoch_start(epoch_)) {
    // Servers of 3.8 log on another thread, which may be faster (ZOOKEEPER-4685). This ACK counts once
    // NEWLEADER is acknowledged, and not before.
    if (packet.zxid > learner.acked && !was_proposed(packet.zxid))
      return drop(learner.link, "it acknowledged a transaction that was never proposed", effects);
    learner.early_acked = std::max(learner.early_acked, packet.zxid);
    return;
  }
  learner.acked = std::max(learner.acked, learner.early_acked);
  enter(learner, Stage::kSynced, now);
  if (phase_ != Phase::kBroadcast) return count_new_leader_acks(now, effects);
  welcome(learner, now, effects);
  commit_ready(now, effects);  // A commit may have waited for its early ACK.
}

void Leader::welcome(LearnerLink& learner, Instant now, Effects& effects) {
  enter(learner, Stage::kActive, now);
  learner.expected_since = now;
  ++learner.traffic.packets_sent;
  wire::append_packet(effects.to(learner.link), PacketType::kUpToDate, Zxid{-1});
}

void Leader::on_active_packet(LearnerLink& learner, const wire::QuorumPacket& packet, Instant now,
                              Effects& effects) {
  switch (packet.type) {
    case PacketType::kAck: return on_ack(learner, packet.zxid, now, effects);
    case PacketType::kPing: on_ping_reply(learner, packet, effects); return check_confirmation(now, effects);
    case PacketType::kRequest:
    case PacketType::kRevalidate:
      if (learner.stage != Stage::kActive)
        return drop(learner.link, "it sent a request before it was active", effects);
      if (packet.type == PacketType::kRequest) ++learner.traffic.requests;
      effects.messages.push_back({learner.link, learner.server, packet.type, packet.zxid,
                                  std::string(packet.data.value_or("")), packet.identities});
      return;
    default: return drop(learner.link, "it sent a packet that learners do not send", effects);
  }
}

}  // namespace drover::zab
