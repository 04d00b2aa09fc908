// SPDX-License-Identifier: Apache-2.0
#include "zab/learner.h"

#include <algorithm>

#include "base/ensure.h"
#include "base/text.h"
#include "wire/txns.h"
#include "zab/membership_text.h"
#include "zab/ping_promise.h"
#include "zab/reconfig_entry.h"

namespace drover::zab {
namespace {

using wire::PacketType;

// Java's servers open their port once they know that they lead. A server that still refuses a second later
// does not lead any more; one that does not answer at all has until connectToLearnerMasterLimit.
constexpr int kFailedDialsMax = 20;
constexpr std::int64_t kRedialMs = 50;

// No member has a negative id.
ServerId nobody_like(ServerId server) { return ServerId{~raw(server)}; }

}  // namespace

Learner::Learner(const LearnerConfig& config, Memberships& memberships, History& history, const Start& start,
                 Instant now, Effects& effects)
    : config_(config),
      memberships_(memberships),
      history_(history),
      start_(start),
      phase_began_(now),
      last_heard_(now) {
  dial(now, effects);
}

void Learner::dial(Instant now, Effects& effects) {
  redial_at_.reset();
  effects.dial = Dial{start_.link, start_.leader, dialled_until() - now};
}

void Learner::end(std::string why) {
  if (over()) return;
  phase_ = Phase::kOver;
  why_over_ = std::move(why);
}

void Learner::on_dial_failed(Instant now) {
  if (phase_ != Phase::kDialling) return;
  redial_at_ = now + kRedialMs;
  if (++failed_dials_ >= kFailedDialsMax) end("the elected leader cannot be reached");
}

void Learner::on_link_up(Instant now, Effects& effects) {
  if (phase_ != Phase::kDialling) return;
  phase_ = Phase::kDiscovery;
  phase_began_ = last_heard_ = now;
  const ServerId name = config_.looks_on ? nobody_like(config_.me) : config_.me;
  const wire::LearnerInfo info{name, wire::kQuorumProtocolVersion, memberships_.version(), held_history()};
  wire::append_packet(out(effects), config_.observer ? PacketType::kObserverInfo : PacketType::kFollowerInfo,
                      epoch_start(start_.accepted), wire::encode(info));
}

void Learner::on_packet(const wire::QuorumPacket& packet, Instant now, Effects& effects) {
  on_heard(now);
  switch (phase_) {
    case Phase::kDiscovery: return on_leader_info(packet, effects);
    case Phase::kSync:
    case Phase::kSynced: return on_sync_packet(packet, effects);
    case Phase::kBroadcast: return on_broadcast_packet(packet, effects);
    case Phase::kDialling:
    case Phase::kOver: return;
  }
}

// --- discovery ---

// The history that this server could lose. Without a transaction there is nothing to lose: an id alone may
// belong to a beginning that was never agreed on.
std::uint64_t Learner::held_history() const {
  return start_.knows_history && raw(history_.last()) > 0 ? start_.history_id : 0;
}

// The transactions here and there do not have the same beginning: a quorum has lost its disks and started
// again, either before or after this server was away. Only the operator knows which history is the right one,
// so neither is touched.
bool Learner::parted_from(const wire::LeaderInfo& info, Effects& effects) {
  const std::uint64_t held = held_history();
  if (held == 0 || !info.history || !info.history->agreed || info.history->id == 0) return false;
  if (info.history->id == held) return false;
  effects.events.push_back(Event::kTwoHistories);
  effects.halt =
      "server " + std::to_string(raw(start_.leader)) +
      " leads a history that is not the one on this disk: a quorum of servers was started from scratch, or a "
      "survivor was forced to continue without this server. This server's data, up to zxid " +
      hex_text(history_.last()) +
      ", is unchanged. To join the others, move version-2 aside and start with an empty one. To keep "
      "this data instead, stop the others, move theirs aside, and restore from this server "
      "(docs/operating.md, \"Two histories\")";
  end("the leader has a different history");
  return true;
}

void Learner::on_leader_info(const wire::QuorumPacket& packet, Effects& effects) {
  const auto info = wire::decode_leader_info(packet.data);
  if (packet.type != PacketType::kLeaderInfo || !info) {
    return end("the leader's first packet is " + std::string(name_of(packet.type)) + ", not LEADERINFO");
  }
  if (parted_from(*info, effects)) return;
  if (info->history) start_.leader_seems_empty = info->history->empty;
  if (info->history && info->history->id != 0) start_.history_id = info->history->id;
  if (epoch_asked_) return end("the leader proposed an epoch twice");
  epoch_asked_ = true;
  epoch_ = epoch_of(packet.zxid);
  if (config_.looks_on) return look_on(effects);
  leader_too_old_ = epoch_ < start_.accepted;
  if (leader_too_old_) return end("the leader's epoch is older than the one promised");
  if (epoch_ > kEpochMax) return end("the leader's epoch is invalid");
  promised_before_ = epoch_ == start_.accepted;
  if (promised_before_) return send_epoch_ack(effects);
  // The epoch is durable before we answer. Otherwise we could promise an older epoch to another leader after
  // a crash.
  effects.disk.emplace_back(SaveEpoch{EpochKind::kAccepted, epoch_});
}

// Joins a leader whose epoch is older than the promised one, without a vote. Why this is safe:
//
// - The promise forbids us to acknowledge anything of an older epoch: a later candidate may have a quorum of
//   such promises, and would not know what we acknowledge now. An observer acknowledges no transactions.
// - We do acknowledge NEWLEADER. Java's leader counts that for every voter's id, even if it came as an
//   observer, and it counts links the same way when it looks for its quorum. Hence we use an id that no
//   server has: Java accepts it, logs "not in the current config", and counts it nowhere. So nothing is
//   committed in this epoch that would not be committed without us.
// - NEWLEADER makes this epoch our current one. That is true of our history, which is then the leader's. And
// it
//   outvotes no server that knows of a later leader: a server that acknowledged the later leader has a later
//   current epoch. Our current epoch never goes back, since we leave a leader that is older than our history.
// - Clients see only what this leader committed, as at every observer.
// - The promise stays as it is, also on disk. When this leader is gone we vote as before, and the next epoch
// is
//   later than the promise.
void Learner::look_on(Effects& effects) {
  if (epoch_ >= start_.accepted) return end("the leader's epoch can be followed");
  if (epoch_ < std::max(start_.current, epoch_of(history_.last())))
    return end("the leader's epoch is older than our history");
  effects.log.push_back("joining server " + std::to_string(raw(start_.leader)) +
                        " as an observer, without a vote: its epoch " + std::to_string(epoch_) +
                        " is older than the one promised, " + std::to_string(start_.accepted));
  promised_before_ = true;
  send_epoch_ack(effects);
}

bool Learner::doubts_history() const {
  return start_.fresh && (start_.history_exists || !start_.leader_seems_empty);
}

void Learner::send_epoch_ack(Effects& effects) {
  if (doubts_history()) start_.knows_history = false;
  if (!start_.knows_history) {
    effects.events.push_back(Event::kHistoryUnknown);
    effects.log.push_back("this server does not know its history, so its vote does not count yet");
  }
  const std::int32_t current = promised_before_ ? -1 : static_cast<std::int32_t>(start_.current);
  const Zxid last = start_.knows_history ? history_.last() : Zxid{-1};
  wire::append_packet(out(effects), PacketType::kAckEpoch, last, wire::encode_int(current));
  phase_ = Phase::kSync;
}

void Learner::on_epoch_saved(EpochKind kind, std::uint32_t epoch, Effects& effects) {
  if (over() || epoch != epoch_) return;
  if (kind == EpochKind::kAccepted && phase_ == Phase::kDiscovery) {
    start_.accepted = epoch;
    return send_epoch_ack(effects);
  }
  if (kind != EpochKind::kCurrent || phase_ != Phase::kSync || !new_leader_seen_) return;
  // Disk orders run one after the other: the history was durable before the epoch.
  start_.current = epoch;
  start_.knows_history = true;
  new_leader_acked_ = true;
  phase_ = Phase::kSynced;
  wire::append_packet(out(effects), PacketType::kAck, epoch_start(epoch_));
  acknowledge(effects);
}

// --- synchronisation ---

void Learner::on_sync_packet(const wire::QuorumPacket& packet, Effects& effects) {
  if (!sync_begun_) return begin_sync(packet, effects);
  switch (packet.type) {
    case PacketType::kProposal: return on_proposal(packet, effects);
    case PacketType::kCommit: return on_commit(packet.zxid);
    case PacketType::kCommitAndActivate: return on_commit_and_activate(packet, effects);
    case PacketType::kInform: on_proposal(packet, effects); return on_commit(packet.zxid);
    case PacketType::kInformAndActivate: return on_inform_and_activate(packet, effects);
    case PacketType::kNewLeader: return on_new_leader(packet, effects);
    case PacketType::kUpToDate: return on_up_to_date(effects);
    // We have not asked the leader anything yet, so no request waits for these; Java's learners ignore them
    // here too.
    case PacketType::kPing:
    case PacketType::kSync:
    case PacketType::kRevalidate: return;
    default: return end("the leader sends " + std::string(name_of(packet.type)) + " while synchronising");
  }
}

void Learner::begin_sync(const wire::QuorumPacket& packet, Effects& effects) {
  sync_begun_ = true;
  effects.log.push_back("syncing with the leader by " + std::string(name_of(packet.type)) + ", epoch " +
                        std::to_string(epoch_) + ", from zxid " + hex_text(history_.last()));
  switch (packet.type) {
    case PacketType::kDiff:
      // The leader has everything that we have. Our history advances only by the transactions that it sends.
      // The packet carries the leader's last zxid, but our history must not claim that zxid before the
      // transactions are here (ZOOKEEPER-2355).
      if (!start_.knows_history) return end("the leader sent a DIFF to a server without a known history");
      history_.set_committed(history_.last());
      break;
    case PacketType::kTrunc: truncate(packet.zxid, effects); break;
    case PacketType::kSnap:
      if (raw(packet.zxid) < 0 || epoch_of(packet.zxid) > epoch_)
        return end("the leader's state ends after its own epoch");
      receiving_snapshot_ = true;
      snapshot_zxid_ = packet.zxid;
      effects.receive_snapshot = start_.link;
      return;
    default: return end("the leader started the sync with " + std::string(name_of(packet.type)));
  }
  received_ = committed_ = history_.last();
}

void Learner::truncate(Zxid last, Effects& effects) {
  // If we never logged this zxid, the histories parted before it. Then only the leader's whole state helps.
  // If the zxid is before the window in memory, the disk decides: it refuses if it never logged the zxid
  // either.
  const bool at_hand = history_.contains(last);
  if (!start_.knows_history || (!at_hand && last >= history_.window_begin())) {
    effects.discard_history = true;
    return end("the leader's history differs from ours before zxid " + hex_text(last));
  }
  effects.disk.emplace_back(TruncateLog{last});
  // Nothing that was applied is cut off, except what was read from the log at start, when its fate was
  // unknown.
  if (last < history_.committed()) effects.disk.emplace_back(ReloadState{});
  memberships_.withdraw_after(last, effects);
  if (at_hand) {
    history_.truncate(last);
    history_.set_committed(last);
  } else {
    history_.begin_at(last);
  }
}

void Learner::on_snapshot_received(std::string_view membership, Effects& effects) {
  ENSURE(receiving_snapshot_, "a snapshot was asked for");
  receiving_snapshot_ = false;
  take_membership_of_state(membership, effects);
  history_.begin_at(*snapshot_zxid_);
  received_ = committed_ = *snapshot_zxid_;
  effects.disk.emplace_back(SaveSnapshot{*snapshot_zxid_});
  memberships_.withdraw_after(*snapshot_zxid_, effects);
}

// Java's leader starts to forward before it looks where its state ends. What it proposed and committed in
// between comes after a state that already holds it.
bool Learner::is_in_snapshot(Zxid zxid) const {
  return phase_ != Phase::kBroadcast && snapshot_zxid_ && raw(zxid) > 0 && zxid <= *snapshot_zxid_;
}

void Learner::on_proposal(const wire::QuorumPacket& packet, Effects& effects) {
  const std::string_view entry = packet.data.value_or(std::string_view{});
  if (entry.size() < wire::kTxnHeaderBytes || wire::zxid_of_entry(entry) != packet.zxid)
    return end("a proposal does not carry the transaction it names");
  if (is_in_snapshot(packet.zxid)) return;
  if (!follows(packet.zxid, received_)) return end("the leader skipped a transaction");
  // Otherwise we could one day lead an epoch before that of our own last transaction.
  if (epoch_of(packet.zxid) > epoch_) return end("a proposal has a later epoch than its leader");
  if (is_reconfig(entry)) on_reconfig(membership_in(entry), packet.zxid, effects);
  if (over()) return;
  if (!gathering_) gathering_ = std::make_shared<TxnBatch>();
  gathering_->add(packet.zxid, entry);
  received_ = packet.zxid;
}

void Learner::on_commit(Zxid zxid) {
  if (over() || is_in_snapshot(zxid)) return;
  if (zxid > received_ || !follows(zxid, committed_)) return end("the leader commits out of order");
  committed_ = zxid;
}

void Learner::flush(Effects& effects) {
  if (gathering_ && !over()) {
    const TxnBatchPtr batch = std::move(gathering_);
    history_.append(batch);
    effects.disk.emplace_back(AppendTxns{batch});
  }
  gathering_.reset();
  if (over() || committed_ <= history_.committed()) return;
  if (history_.at_or_before(committed_) != committed_)
    return end("the leader committed a transaction that it never proposed");
  history_.set_committed(committed_);
}

void Learner::on_new_leader(const wire::QuorumPacket& packet, Effects& effects) {
  if (new_leader_seen_) return end("the leader sent NEWLEADER twice");
  if (packet.zxid != epoch_start(epoch_)) return end("NEWLEADER names another epoch than LEADERINFO");
  flush(effects);
  if (over()) return;
  take_membership(packet.data.value_or(std::string_view{}), effects);
  if (over()) return;
  new_leader_seen_ = true;
  acked_ = history_.committed();
  effects.disk.emplace_back(SaveEpoch{EpochKind::kCurrent, epoch_, start_.history_id});
}

void Learner::on_up_to_date(Effects& effects) {
  if (!new_leader_acked_) return end("the leader sent UPTODATE before we acknowledged NEWLEADER");
  phase_ = Phase::kBroadcast;
  level_at_ = committed_;
  effects.log.push_back("synced with the leader, server " + std::to_string(raw(start_.leader)) +
                        ", in epoch " + std::to_string(epoch_));
  wire::append_packet(out(effects), PacketType::kAck, epoch_start(epoch_));
  complete_membership(effects);
}

// --- broadcast ---

void Learner::on_broadcast_packet(const wire::QuorumPacket& packet, Effects& effects) {
  count(packet.type);
  switch (packet.type) {
    case PacketType::kProposal: return on_proposal(packet, effects);
    case PacketType::kCommit: return on_commit(packet.zxid);
    case PacketType::kCommitAndActivate: return on_commit_and_activate(packet, effects);
    case PacketType::kInform: on_proposal(packet, effects); return on_commit(packet.zxid);
    case PacketType::kInformAndActivate: return on_inform_and_activate(packet, effects);
    case PacketType::kPing:
    case PacketType::kSync:
    case PacketType::kRevalidate:
      if (packet.type == PacketType::kPing) promised_ping_ms_ = decode_ping_promise(packet.data);
      // Commits that came before this packet take effect before it is handled.
      flush(effects);
      effects.messages.push_back(
          {start_.link, start_.leader, packet.type, packet.zxid, std::string(packet.data.value_or("")), {}});
      return;
    case PacketType::kUpToDate: return;
    default: return end("the leader sends " + std::string(name_of(packet.type)) + " after UPTODATE");
  }
}

void Learner::count(PacketType type) {
  switch (type) {
    case PacketType::kProposal: ++counts_.proposals; return;
    case PacketType::kCommit:
    case PacketType::kCommitAndActivate:
    case PacketType::kInform:
    case PacketType::kInformAndActivate: ++counts_.commits; return;
    default: return;
  }
}

void Learner::on_durable(Effects& effects) {
  if (!over()) acknowledge(effects);
}

// Acknowledges each transaction by itself: Java's leader counts votes for every one.
void Learner::acknowledge(Effects& effects) {
  if (config_.observer || !new_leader_acked_ || history_.durable() <= acked_) return;
  std::string& to_leader = out(effects);
  history_.for_each(acked_, history_.durable(), [&](Zxid zxid, std::string_view) {
    wire::append_packet(to_leader, PacketType::kAck, zxid);
  });
  acked_ = history_.durable();
}

void Learner::send(PacketType type, Zxid zxid, std::string_view data, Effects& effects) {
  if (phase_ == Phase::kBroadcast) wire::append_packet(out(effects), type, zxid, data);
}

void Learner::send_request(std::string_view data, const std::vector<wire::Identity>& identities,
                           Effects& effects) {
  if (phase_ == Phase::kBroadcast) wire::append_request_packet(out(effects), data, identities);
}

// --- time ---

void Learner::on_time(Instant now, Effects& effects) {
  if (over() || now < next_time()) return;
  if (phase_ == Phase::kDialling && now < dialled_until()) return dial(now, effects);
  if (phase_ == Phase::kBroadcast && now - last_heard_ < config_.timing.sync_ms()) {
    if (suspected_) return end("the leader has not pinged for " + std::to_string(now - last_heard_) + " ms");
    // If this server was the one that was stuck, it is about to read what the leader sent meanwhile.
    suspected_ = now;
    return;
  }
  if (phase_ == Phase::kBroadcast) return end("no packet from the leader within syncLimit");
  if (phase_ == Phase::kDialling) return end("the elected leader was not reached in time");
  if (waits_for_nothing()) return end("the leader has no epoch yet, and may need a vote");
  end("the leader did not sync us within initLimit");
}

// A leader that has an epoch says so at once. A leader without one will choose a later epoch than the
// promise, and may be waiting for this voter alone.
bool Learner::waits_for_nothing() const { return phase_ == Phase::kDiscovery && config_.looks_on; }

// Java's leaders promise nothing and may pause for syncLimit. Leaving early costs only an election: if a
// quorum still follows the leader, the server that left is told so, and comes back.
bool Learner::may_lose_patience() const {
  return phase_ == Phase::kBroadcast && config_.timing.silence_limit_ms > 0 && promised_ping_ms_;
}

Instant Learner::next_time() const {
  if (phase_ == Phase::kDialling) return std::min(dialled_until(), redial_at_.value_or(dialled_until()));
  if (waits_for_nothing()) return last_heard_ + config_.timing.tick_ms;
  if (phase_ != Phase::kBroadcast) return last_heard_ + config_.timing.init_ms();
  const Instant limit = last_heard_ + config_.timing.sync_ms();
  if (!may_lose_patience()) return limit;
  const std::int64_t patience =
      std::max(config_.timing.silence_limit_ms, Timing::kPingsInSilence * *promised_ping_ms_);
  return std::min(limit, suspected_ ? *suspected_ + *promised_ping_ms_ : last_heard_ + patience);
}

}  // namespace drover::zab
