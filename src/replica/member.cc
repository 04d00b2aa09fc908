// SPDX-License-Identifier: Apache-2.0
#include "replica/member.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "base/ensure.h"
#include "base/text.h"
#include "zab/membership_text.h"

namespace drover::replica {
namespace {

using wire::PacketType;

// Inexact, and the end of that is not known yet.
constexpr Zxid kUnknown{std::numeric_limits<std::int64_t>::max()};

// We replaced our state with a leader's. If it soon differs too, the fault is in the programs and not in the
// files on disk: trying again and again would only load the leader.
constexpr std::int64_t kDiscardEveryMs = 10 * 60'000;

bool contains(const std::vector<zab::LinkId>& links, zab::LinkId link) {
  return std::find(links.begin(), links.end(), link) != links.end();
}

}  // namespace

Member::Member(const MemberConfig& config, MemberStart start, Replica& replica, state::Machine& machine,
               StateReceiver& receiver)
    : config_(config),
      peer_(config.peer, std::move(start.memberships), std::move(start.history), start.peer),
      replica_(replica),
      machine_(machine),
      receiver_(receiver),
      builder_(machine),
      inexact_until_(start.exact ? Zxid{0} : kUnknown) {
  note_membership();
  if (config.peer.standalone || !config.peer.reconfig_enabled) return;
  replica_.set_reconfig_rule([this](const auto&... request) { return decide_reconfig(request...); });
}

// --- inputs ---

void Member::start(Instant now, Effects& effects) {
  begin(effects);
  peer_.start(now, effects.zab);
  after(now, wall_, effects);
}

void Member::on_front(FrontId front, ToReplica& batch, Instant now, WallTime wall, Effects& effects) {
  begin(effects);
  wall_ = wall;
  replica_.on_front(front, batch, now, wall, effects);
  after(now, wall, effects);
}

void Member::on_notification(ServerId from, const wire::Notification& notification, Instant now,
                             Effects& effects) {
  begin(effects);
  peer_.on_notification(from, notification, now, effects.zab);
  after(now, wall_, effects);
}

void Member::on_link(const zab::LinkEvent& event, Instant now, Effects& effects) {
  begin(effects);
  peer_.on_link(event, now, effects.zab);
  after(now, wall_, effects);
}

void Member::lose_link(zab::LinkId link, std::string why, Instant now, Effects& effects) {
  effects.zab.log.push_back("closing a link on the quorum port: " + std::move(why));
  effects.zab.close.push_back(link);
  peer_.on_link({link, zab::LinkEvent::Kind::kDown}, now, effects.zab);
}

std::size_t Member::on_link_bytes(zab::LinkId link, std::string_view bytes, Instant now, WallTime wall,
                                  Effects& effects) {
  begin(effects);
  wall_ = wall;
  peer_.on_heard(link, now);
  std::size_t taken = 0;
  if (receiving_ == link) {
    taken = feed_state(link, bytes, now, effects);
  } else {
    wire::QuorumPacket packet;
    while (!receiving_ && !contains(effects.zab.close, link)) {
      const wire::DecodedPacket decoded = wire::decode_packet(bytes.substr(taken), limits_of(link), packet);
      if (decoded.status == wire::Decoded::kNeedMore) break;
      if (decoded.status == wire::Decoded::kBad) {
        lose_link(link, "it sent bytes that are not a packet", now, effects);
        break;
      }
      taken += decoded.bytes;
      peer_.on_packet(link, packet, now, effects.zab);
      // Each packet is handled before the next one: their order is the protocol.
      handle_messages(now, wall, effects);
      if (effects.zab.receive_snapshot) {
        receiving_ = std::exchange(effects.zab.receive_snapshot, std::nullopt);
        receiving_zxid_ = packet.zxid;
        receiving_begun_ = false;
        state_unusable_ = true;
      }
    }
    peer_.on_packets_end(link, now, effects.zab);
  }
  after(now, wall, effects);
  return contains(effects.zab.close, link) ? bytes.size() : taken;
}

// A length is refused when it arrives, so this also limits the memory of a link.
const wire::PacketLimits& Member::limits_of(zab::LinkId link) const {
  if (const zab::Leader* leader = peer_.leader()) {
    const zab::LearnerLink* learner = leader->find(link);
    const bool introduced = learner && learner->stage != zab::LearnerLink::Stage::kGreeting;
    return introduced ? config_.from_learners : wire::kIntroductionLimits;
  }
  const bool to_leader = peer_.learner() && peer_.learner()->link() == link;
  return to_leader ? config_.from_leader : wire::kIntroductionLimits;
}

std::size_t Member::feed_state(zab::LinkId link, std::string_view bytes, Instant now, Effects& effects) {
  if (!receiving_begun_) {
    receiving_begun_ = true;
    inexact_until_ = kUnknown;
    builder_.reset();
    receiver_.begin(builder_);
  }
  const auto taken = receiver_.feed(bytes);
  if (!taken) {
    lose_link(link, "the leader's state cannot be read", now, effects);
    return bytes.size();
  }
  if (receiver_.done()) {
    builder_.loaded(receiving_zxid_);
    builder_.finish();
    receiving_.reset();
    state_unusable_ = false;
    peer_.on_snapshot_received(replica_.membership_text(), now, effects.zab);
  }
  return *taken;
}

void Member::on_disk(const zab::DiskAnswer& answer, Instant now, Effects& effects) {
  begin(effects);
  note_answer(answer, now);
  peer_.on_disk(answer, now, effects.zab);
  after(now, wall_, effects);
}

// Applies a disk answer to the state in memory.
void Member::note_answer(const zab::DiskAnswer& answer, Instant now) {
  if (const auto* durable = std::get_if<zab::TxnsDurable>(&answer)) replica_.note_durable(durable->last, now);
  if (const auto* reloaded = std::get_if<zab::StateReloaded>(&answer)) {
    state_unusable_ = false;
    inexact_until_ = reloaded->exact ? Zxid{0} : kUnknown;
    peer_.set_applied(machine_.last_zxid);
  }
  if (std::holds_alternative<zab::HistoryDiscarded>(answer)) {
    state_unusable_ = false;
    replica_.forget_divergence();
    replica_.forget_unapplied_after(Zxid{-1});
  }
}

void Member::on_tick(Instant now, WallTime wall, Effects& effects) {
  begin(effects);
  wall_ = wall;
  replica_.on_tick(now, wall, effects);
  after(now, wall, effects);
}

void Member::on_time(Instant now, Effects& effects) {
  begin(effects);
  peer_.on_time(now, effects.zab);
  after(now, wall_, effects);
}

std::optional<Instant> Member::next_time() const {
  std::optional<Instant> next = peer_.next_time();
  if (looking_since_ && !may_read_only_ && config_.read_only_after_ms) {
    const Instant due = *looking_since_ + *config_.read_only_after_ms;
    if (!next || due < *next) next = due;
  }
  return next;
}

// --- between replica and peer ---

void Member::after(Instant now, WallTime wall, Effects& effects) {
  propose_all(now, effects);
  send_to_leader(effects);
  handle_messages(now, wall, effects);
  if (effects.zab.discard_history) state_unusable_ = true;
  if (effects.zab.halt) {
    halted_ = true;
    effects.halt = std::move(effects.zab.halt);
    effects.zab.halt.reset();
  }
  // The transfer ended with its link.
  if (receiving_ && !(peer_.learner() && peer_.learner()->is_receiving_snapshot())) receiving_.reset();
  const zab::History& history = peer_.history();
  if (replica_.is_exhausted() && peer_.leader() && history.committed() == history.last()) {
    effects.zab.events.push_back(zab::Event::kEpochOver);
    peer_.step_down("this epoch has no zxid left", now, effects.zab);
  }
  note_orders(now, effects);
  note_looking(now);
  if (effects.zab.memberships_changed) note_membership();
}

// A server that was removed serves nobody: its clients should move to members. A server that is about to join
// serves, as in Java; only those that look for it by its address can find it.
void Member::note_membership() {
  const zab::Membership& members = peer_.membership();
  if (members.version() == 0) return;
  const bool member = members.is_member(config_.peer.me);
  removed_ = was_member_ && !member;
  was_member_ = was_member_ || member;
}

CodeResult<std::string> Member::decide_reconfig(const wire::ReconfigRequest& request, Zxid zxid,
                                                bool may_write, Zxid prepared) const {
  const zab::Leader* leader = peer_.leader();
  ENSURE(leader != nullptr, "only a leader prepares transactions");
  const zab::Memberships& members = peer_.memberships();
  // It may still be on its way to the leader.
  if (raw(prepared) > members.last_seen().version()) return std::unexpected(ErrorCode::kReconfigInProgress);
  const zab::ServerSet synced = leader->synced();
  auto next = zab::decide_reconfig(request, {members.committed(), members.last_seen(), synced, may_write},
                                   config_.reconfig);
  if (!next) return std::unexpected(next.error().code);
  next->set_version(raw(zxid));
  return to_text(*next);
}

void Member::note_looking(Instant now) {
  if (peer_.role() != zab::Role::kLooking) {
    looking_since_.reset();
    may_read_only_ = false;
    return;
  }
  if (!looking_since_) looking_since_ = now;
  may_read_only_ = config_.read_only_after_ms && now - *looking_since_ >= *config_.read_only_after_ms;
}

void Member::propose_all(Instant now, Effects& effects) {
  zab::Leader* leader = peer_.leader();
  const bool leading =
      leader && leader->phase() == zab::Leader::Phase::kBroadcast && replica_.service() == Service::kLeading;
  for (Ordered& next : effects.ordered) {
    // Made for an epoch that has ended meanwhile: no client was told, and none will be.
    if (!leading) break;
    if (next.is_sync()) {
      replica_.set_sync_ticket(leader->sync(std::nullopt, now, effects.zab));
    } else {
      peer_.propose(std::move(next.batch), now, effects.zab);
    }
    note_orders(now, effects);
  }
  effects.ordered.clear();
}

// Disk orders change what there is to apply.
void Member::note_orders(Instant now, Effects& effects) {
  for (; orders_seen_ < effects.zab.disk.size(); ++orders_seen_) {
    const zab::DiskOrder& order = effects.zab.disk[orders_seen_];
    if (const auto* append = std::get_if<zab::AppendTxns>(&order)) replica_.add_unapplied(append->batch, now);
    if (const auto* cut = std::get_if<zab::TruncateLog>(&order)) replica_.forget_unapplied_after(cut->last);
    if (std::holds_alternative<zab::SaveSnapshot>(order)) replica_.forget_unapplied_after(Zxid{-1});
    if (std::holds_alternative<zab::ReloadState>(order)) state_unusable_ = true;
  }
}

void Member::send_to_leader(Effects& effects) {
  zab::Learner* learner = peer_.learner();
  for (const ToLeader& message : effects.to_leader) {
    if (!learner) break;
    std::string data;
    if (message.kind == ToLeader::Kind::kRevalidate) {
      wire::append_touched(data, {message.session, message.timeout_ms});
      learner->send(PacketType::kRevalidate, Zxid{-1}, data, effects.zab);
    } else {
      static const state::Identities kNone;
      wire::append_forwarded(data, {message.session, message.cxid, message.op, message.body});
      learner->send_request(data, message.who ? *message.who : kNone, effects.zab);
    }
  }
  effects.to_leader.clear();
}

void Member::handle_messages(Instant now, WallTime wall, Effects& effects) {
  std::vector<zab::PeerMessage> messages;
  messages.swap(effects.zab.messages);
  for (const zab::PeerMessage& message : messages) {
    if (peer_.leader()) {
      on_learner_message(message, now, wall, effects);
    } else if (peer_.learner()) {
      on_leader_message(message, effects);
    }
  }
  if (!messages.empty()) propose_all(now, effects);
}

void Member::on_learner_message(const zab::PeerMessage& message, Instant now, WallTime wall,
                                Effects& effects) {
  if (message.type == PacketType::kPing) {
    const auto touched = wire::decode_touched(message.data);
    if (!touched) return lose_link(message.link, "a ping's sessions cannot be read", now, effects);
    for (const wire::TouchedSession& session : *touched) replica_.touch(message.link, session, now);
  } else if (message.type == PacketType::kRevalidate) {
    const auto asked = wire::decode_touched(message.data);
    if (!asked || asked->size() != 1)
      return lose_link(message.link, "a REVALIDATE cannot be read", now, effects);
    const bool valid = replica_.revalidate(message.link, asked->front(), now, effects);
    wire::append_packet(effects.zab.to(message.link), PacketType::kRevalidate, Zxid{-1},
                        wire::encode(wire::Revalidated{asked->front().session, valid}));
  } else {
    const auto request = wire::decode_forwarded(message.data);
    if (!request) return lose_link(message.link, "a REQUEST cannot be read", now, effects);
    replica_.touch_through(message.link, request->session, now);
    if (request->op == wire::OpCode::kSync) {
      propose_all(now, effects);
      peer_.leader()->sync(message.link, now, effects.zab);
    } else {
      replica_.on_forwarded(message.link, *request,
                            std::make_shared<const state::Identities>(message.identities), now, wall,
                            effects);
      propose_all(now, effects);
    }
  }
}

void Member::on_leader_message(const zab::PeerMessage& message, Effects& effects) {
  if (message.type == PacketType::kPing) {
    std::string touched;
    replica_.take_touched(touched, config_.ping_bytes_max);
    peer_.learner()->send(PacketType::kPing, message.zxid, touched, effects.zab);
  } else if (message.type == PacketType::kSync) {
    replica_.on_sync_answered(peer_.history().committed());
  } else if (const auto answer = wire::decode_revalidated(message.data)) {
    replica_.on_revalidated(*answer, effects);
  }
}

// --- the tree ---

// The zxid right before the first transaction that this leader proposes.
Zxid Member::first_proposal_after() const {
  return peer_.config().standalone ? peer_.history().last() : epoch_start(peer_.leader()->epoch());
}

Service Member::wanted_service() const {
  // The state may be old, but it was once current: never half a state, nor the empty state of a new disk.
  if (may_read_only_ && is_state_exact() && !peer_.is_fresh()) return Service::kReadOnly;
  if (!peer_.active() || state_unusable_ || removed_) return Service::kNone;
  if (peer_.leader()) return Service::kLeading;
  if (peer_.doubts_state()) return Service::kNone;
  // Before that the state may be older than what its clients have seen elsewhere, or hold some later
  // transactions: what was agreed on is not yet on this disk.
  return machine_.last_zxid < *peer_.learner()->level_at() ? Service::kNone : Service::kLearning;
}

// A server shows only what is committed and on its own disk.
Zxid Member::applicable() const {
  const zab::History& history = peer_.history();
  return std::min(history.committed(), history.durable());
}

bool Member::has_tree_work() const {
  if (halted_) return false;
  if (replica_.service() != wanted_service()) return true;
  if (state_unusable_ || replica_.divergence()) return false;
  const bool released = peer_.leader() && replica_.released_syncs() != peer_.leader()->released_syncs();
  return applicable() > machine_.last_zxid || released || replica_.has_answers() || replica_.has_releasable();
}

// A leader has logged what it has committed. What it applied while it sent its state is sent again before
// UPTODATE. So a leader's own state is exact, and a learner's is once it has applied all that came before
// UPTODATE.
void Member::look_whether_exact() {
  if (inexact_until_ == kUnknown) {
    if (peer_.leader()) inexact_until_ = peer_.history().last();
    if (peer_.learner() && peer_.learner()->level_at()) inexact_until_ = *peer_.learner()->level_at();
  }
  replica_.set_inexact_until(std::max(inexact_until_, digests_from()));
}

// A digest speaks of the state of the leader that wrote it: the leader of its epoch. Only digests of the
// leader that we follow now tell us something about that leader. So earlier ones, which a wrong leader may
// have left in everybody's log, are not compared.
Zxid Member::digests_from() const {
  if (peer_.leader()) return epoch_start(peer_.leader()->epoch());
  const bool follows = peer_.learner() && peer_.learner()->epoch() > 0;
  return follows ? epoch_start(peer_.learner()->epoch()) : kUnknown;
}

bool Member::is_state_exact() const {
  return !state_unusable_ && peer_.knows_history() && !peer_.doubts_state() &&
         machine_.last_zxid >= inexact_until_;
}

void Member::on_divergence(const Replica::Divergence& divergence, Instant now, Effects& effects) {
  replica_.end_service();
  ++divergences_;
  std::string what =
      "transaction " + hex_text(divergence.at) +
      (divergence.readable ? " makes another state here than at the leader" : " cannot be read");
  const bool soon_again = peer_.gave_in_since(now + -kDiscardEveryMs);
  if (!divergence.readable || soon_again) {
    halted_ = true;
    effects.halt =
        what + (soon_again ? ", within ten minutes of taking the leader's state" : "") +
        ": this server stops, because another try would end the same way. Its files are unchanged; "
        "compare its version with the leader's";
    return;
  }
  replica_.forget_divergence();
  peer_.contest_leader(what, now, effects.zab);
}

void Member::work_on_tree(Instant now, WallTime wall, Effects& effects) {
  begin(effects);
  wall_ = wall;
  const Service wanted = wanted_service();
  if (replica_.service() != wanted && replica_.service() != Service::kNone) replica_.end_service();
  if (!state_unusable_) {
    look_whether_exact();
    if (peer_.leader()) replica_.set_released_syncs(peer_.leader()->released_syncs());
    replica_.on_committed(applicable(), now);
    peer_.set_applied(machine_.last_zxid);
    replica_.release_throttled(now, wall, effects);
  }
  if (peer_.doubts_state() && peer_.learner() && replica_.compared_at() > digests_from()) peer_.trust_state();
  if (const auto divergence = replica_.divergence()) {
    on_divergence(*divergence, now, effects);
  } else if (replica_.service() != wanted) {
    // A standalone server has no members to show.
    if (!peer_.config().standalone)
      replica_.publish_membership(to_text(peer_.membership()), peer_.membership().version(), wall);
    if (wanted == Service::kLeading) {
      replica_.begin_leading(first_proposal_after(), now, wall, effects);
    } else if (wanted == Service::kLearning) {
      replica_.begin_learning(peer_.learner()->epoch(), now);
    } else if (wanted == Service::kReadOnly) {
      effects.zab.log.push_back("no leader was found: serving read-only clients from the last state");
      replica_.begin_read_only();
    }
  }
  after(now, wall, effects);
}

}  // namespace drover::replica
