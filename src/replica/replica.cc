// SPDX-License-Identifier: Apache-2.0
//
// The part that is the same in every role: applying what is decided, and answering the clients that wait for
// it.
#include "replica/replica.h"

#include <algorithm>

#include "base/ensure.h"
#include "base/path.h"
#include "wire/txns.h"

namespace drover::replica {

using wire::OpCode;

Replica::Replica(const ReplicaConfig& config, state::Machine& machine, std::vector<Front*> fronts,
                 Instant now)
    : config_(config),
      machine_(machine),
      fronts_(std::move(fronts)),
      pending_(std::make_unique<state::PendingChanges>(machine.tree)),
      expiry_(config.tick_ms),
      heard_until_(fronts_.size(), now),
      last_proposed_(machine.last_zxid),
      next_session_(raw(config.first_session)),
      next_reap_(now + config.container_check_ms),
      reap_paced_(now),
      session_rate_(config.session_rate, machine.options.hash_key),
      connection_throttle_(config.connection_throttle, config.seed, now) {
  if (config_.audit_user) audit_.emplace(*config_.audit_user);
  for (Front* each : fronts_) each->set_serving(Serving::kNo, {});
}

void Replica::on_front(FrontId front, ToReplica& batch, Instant now, WallTime wall, Effects& effects) {
  Instant& heard = heard_until_[static_cast<std::size_t>(front)];
  heard = std::max(heard, batch.heard_until);
  note_clocks(now, wall);
  audit_refused(batch);
  std::erase_if(batch.sessions,
                [&](const SessionRequest& request) { return !admit(front, request, now, effects); });
  if (service_ == Service::kLearning) return learn_front(front, batch, now, wall, effects);
  if (service_ == Service::kReadOnly) return read_only_front(front, batch, now, effects);
  if (service_ == Service::kNone) return;  // The fronts close their connections.
  for (const SessionTouch& touch : batch.touched) expiry_.touch(touch.session, touch.heard);
  for (const SessionRequest& request : batch.sessions) on_session_request(front, request, now, wall, effects);
  const std::string_view bytes = batch.bytes;
  for (const ClientWrite& write : batch.writes) {
    submit(front, write, bytes.substr(write.offset, write.length), now, wall, effects);
  }
  hand_over(effects);
}

void Replica::audit_refused(const ToReplica& batch) {
  if (!audit_) return;
  const std::string_view bytes = batch.bytes;
  for (const ClientWrite& write : batch.refused) {
    const auto note = audit_note(write, bytes.substr(write.offset, write.length), machine_.options);
    if (note) audit_->finish(*note, nullptr);
  }
}

bool Replica::admit(FrontId front, const SessionRequest& request, Instant now, Effects& effects) {
  using Kind = ConnectionThrottle::Kind;
  const Kind new_one = config_.local_sessions ? Kind::kLocal : Kind::kGlobal;
  if (connection_throttle_.allow(raw(request.session) != 0 ? Kind::kRenew : new_one, now)) return true;
  ++stats_.sessions_throttled;
  effects.answers.push_back({SessionAnswer::Kind::kDropped, front, request.conn, {}});
  return false;
}

void Replica::set_reconfig_rule(ReconfigRule rule) {
  reconfig_ = [this, rule = std::move(rule)](const wire::ReconfigRequest& request, Zxid zxid,
                                             bool may_write) {
    return rule(request, zxid, may_write, reconfig_prepared_);
  };
}

std::string_view Replica::membership_text() const {
  const state::NodeRef ref = machine_.tree.find(kConfigPath);
  return ref == state::kNoNode ? "" : machine_.tree.at(ref).data().value_or(std::string_view{});
}

void Replica::publish_membership(std::string_view text, std::int64_t version, WallTime wall) {
  const state::NodeRef ref = machine_.tree.find(kConfigPath);
  if (ref == state::kNoNode) return;
  wire::StatPersisted stat = state::persisted_stat(machine_.tree.at(ref));
  stat.mzxid = Zxid{version};
  stat.mtime = wall.ms;
  stat.version = -1;
  machine_.tree.set_data(ref, kConfigPath, text, stat);
}

// --- what is logged ---

void Replica::add_unapplied(TxnBatchPtr batch, Instant now) {
  if (service_ == Service::kLearning && batch->size() > 0)
    count_age(stats_.ages.proposed, wire::time_of_entry(batch->entry(batch->size() - 1)), now);
  unapplied_.push_back({std::move(batch), 0});
}

void Replica::note_durable(Zxid last, Instant now) {
  if (config_.standalone || (service_ != Service::kLeading && service_ != Service::kLearning)) return;
  const auto found = std::lower_bound(unapplied_.begin(), unapplied_.end(), last,
                                      [](const Unapplied& each, Zxid zxid) { return each.log->last < zxid; });
  if (found == unapplied_.end() || found->log->last != last) return;
  count_age(stats_.ages.durable, wire::time_of_entry(found->log->entry(found->log->size() - 1)), now);
}

void Replica::count_age(Histogram& ages, std::int64_t made_ms, Instant now) {
  if (!wall_ahead_ms_) return;
  // Each clock is read to the millisecond, and `now` is a bit old.
  constexpr std::int64_t kGrainMs = 2;
  const std::int64_t age_ms = now.ms + *wall_ahead_ms_ - made_ms;
  if (age_ms >= -kGrainMs) ages.add(static_cast<std::uint64_t>(std::max<std::int64_t>(age_ms, 0)));
}

// Ages are not counted without a service: a learner is synced with transactions that were made long ago.
void Replica::count_applied(const wire::TxnHeader& header, Instant now) {
  ++stats_.txns_applied;
  switch (service_) {
    case Service::kLeading:
      if (config_.standalone) return count_age(stats_.ages.standalone, header.time_ms, now);
      ++stats_.txns_agreed_on;
      return count_age(stats_.ages.leading, header.time_ms, now);
    case Service::kLearning:
      ++stats_.txns_agreed_on;
      return count_age(stats_.ages.learning, header.time_ms, now);
    case Service::kNone:
    case Service::kReadOnly: return;
  }
}

void Replica::forget_unapplied_after(Zxid last) {
  while (!unapplied_.empty() && unapplied_.back().log->first > last) unapplied_.pop_back();
  if (unapplied_.empty() || unapplied_.back().log->last <= last) return;
  Unapplied& cut = unapplied_.back();
  auto kept = std::make_shared<TxnBatch>();
  for (std::size_t i = 0; i < cut.log->size(); ++i) {
    const Zxid zxid = wire::zxid_of_entry(cut.log->entry(i));
    if (zxid <= last) kept->add(zxid, cut.log->entry(i));
  }
  cut.log = std::move(kept);
}

// --- what is decided ---

void Replica::on_committed(Zxid last, Instant now) {
  while (!unapplied_.empty() && machine_.last_zxid < last && !divergence_) {
    Unapplied& batch = unapplied_.front();
    const TxnBatch& log = *batch.log;
    while (batch.next < log.size() && !divergence_) {
      const std::string_view entry = log.entry(batch.next);
      if (wire::zxid_of_entry(entry) > last) return answer_due(now);
      apply_next(entry, now);
      ++batch.next;
    }
    if (batch.next == log.size()) unapplied_.pop_front();
  }
  // The tree holds a change that nobody was told of. No reply may show it before service ends.
  if (!divergence_) answer_due(now);
}

void Replica::apply_next(std::string_view entry, Instant now) {
  const auto txn = wire::decode_entry(entry);
  if (!txn) {
    // This cannot happen with our own transactions. From a leader: it uses a format that we do not know.
    ENSURE(service_ != Service::kLeading, "what prepare wrote can be read");
    divergence_ = {wire::zxid_of_entry(entry), /*readable=*/false};
    return;
  }
  if (txn->header.zxid <= machine_.last_zxid) return;  // already in the leader's state
  answer_due(now);
  events_.clear();
  const state::ApplyResult result = state::apply(machine_, *txn, events_);
  const bool proposed_here = service_ == Service::kLeading;
  const bool comparable = txn->digest && machine_.options.digest_enabled &&
                          txn->digest->version == wire::kDigestVersion && txn->header.zxid > inexact_until_;
  if (comparable && txn->digest->tree_digest != machine_.tree.digest()) {
    ENSURE(!proposed_here, "the tree is as prepare foresaw it");
    divergence_ = {txn->header.zxid};
    return;
  }
  // Without a digest there is nothing to compare, if the leader writes none. Errors never have one.
  const bool has_none = !txn->digest && result.type != OpCode::kError;
  if (comparable || has_none) compared_at_ = txn->header.zxid;
  count_applied(txn->header, now);
  if (proposed_here) pending_->applied(txn->header.zxid);
  if (audit_ && service_ != Service::kNone) audit_->note_applied(txn->header, result, events_);
  // Events come first, on all fronts: no reply may show the change to a client that was not notified.
  for (Front* each : fronts_) each->on_events(events_, txn->header.zxid);
  if (proposed_here) {
    answer_proposed(*txn, result, now);
  } else {
    answer_awaiting(txn->header, result, now);
  }
}

void Replica::answer_proposed(const wire::TxnEntry& txn, const state::ApplyResult& result, Instant now) {
  ENSURE(!in_flight_.empty() && in_flight_.front().zxid == txn.header.zxid,
         "transactions are applied in order");
  const InFlight waiting = leave(in_flight_);
  if (waiting.op == OpCode::kCloseSession && result.type == OpCode::kCloseSession) end_session(waiting);
  if (waiting.front) tell(waiting, result, now);
}

void Replica::end_session(const InFlight& waiting) {
  ++stats_.sessions_closed;
  const auto found = sessions_.find(waiting.session);
  // Not ended by its client: the connection that still holds the session ends with it.
  if (!waiting.front && found != sessions_.end() && found->second.front) {
    const FrontId where = *found->second.front;
    front(where).on_session_answer({SessionAnswer::Kind::kDropped, where, found->second.conn, {}});
  }
  if (is_local(waiting.session)) --local_count_;
  sessions_.erase(waiting.session);
  expiry_.remove(waiting.session);
  if (service_ == Service::kLeading && config_.local_sessions) ended_.add(waiting.session);
}

void Replica::tell(const InFlight& waiting, const state::ApplyResult& result, Instant now) {
  const FrontId where = *waiting.front;
  if (waiting.audit) audit_->finish(*waiting.audit, &result);
  if (waiting.op == OpCode::kCreateSession) {
    const bool made = result.type == OpCode::kCreateSession;
    const auto kind = made ? SessionAnswer::Kind::kThere : SessionAnswer::Kind::kDropped;
    front(where).on_session_answer({kind, where, waiting.conn, waiting.session});
  } else if (!waiting.create2.empty()) {
    state::ApplyResult with_stats = result;
    for (const std::uint32_t i : waiting.create2) {
      const bool made = i < with_stats.multi.size() && with_stats.multi[i].type == OpCode::kCreate;
      if (made) with_stats.multi[i].type = OpCode::kCreate2;
    }
    front(where).on_result(waiting.conn, {waiting.op, waiting.xid, &with_stats, ErrorCode::kOk}, now);
  } else {
    front(where).on_result(waiting.conn, {waiting.op, waiting.xid, &result, ErrorCode::kOk}, now);
  }
}

// --- answers without a transaction ---

void Replica::refuse(const InFlight& waiting, Instant now) {
  if (waiting.audit) audit_->finish(*waiting.audit, nullptr);
  front(*waiting.front).on_result(waiting.conn, {waiting.op, waiting.xid, nullptr, waiting.refusal}, now);
}

bool Replica::is_due(const InFlight& waiting) const {
  if (waiting.zxid > machine_.last_zxid) return false;
  if (waiting.op == OpCode::kSync && waiting.refusal == ErrorCode::kOk) {
    return waiting.ticket != 0 && waiting.ticket <= released_syncs_;
  }
  return waiting.refusal != ErrorCode::kOk || waiting.closes_local;
}

bool Replica::has_answers() const {
  if (!in_flight_.empty() && is_due(in_flight_.front())) return true;
  if (!own_answers_.empty()) return true;
  return !answered_syncs_.empty() && answered_syncs_.front().after <= machine_.last_zxid;
}

// Refused writes and syncs keep their place among the connection's requests, so that replies stay in order.
void Replica::answer_due(Instant now) {
  while (!in_flight_.empty() && is_due(in_flight_.front())) {
    const InFlight waiting = leave(in_flight_);
    if (waiting.closes_local) forget_local(waiting.session);
    refuse(waiting, now);
  }
  answer_synced(now);
  give_own_answers(now);
}

}  // namespace drover::replica
