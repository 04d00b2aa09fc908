// SPDX-License-Identifier: Apache-2.0
#include "runtime/core.h"

#include <algorithm>

#include "base/ensure.h"
#include "log/log.h"
#include "runtime/clock.h"

namespace drover::server {

namespace {

std::vector<replica::Front*> fronts_of(const std::vector<Core::FrontPort>& ports) {
  std::vector<replica::Front*> fronts;
  for (const Core::FrontPort& port : ports) fronts.push_back(port.front);
  return fronts;
}

std::uint64_t ms_between(std::int64_t begin_ns, std::int64_t end_ns) {
  return static_cast<std::uint64_t>(end_ns - begin_ns) / 1'000'000;
}

}  // namespace

Core::Core(const replica::ReplicaConfig& config, state::Machine& machine, TreeLock& lock,
           std::vector<FrontPort> fronts)
    : machine_(machine),
      lock_(lock),
      fronts_(std::move(fronts)),
      replica_(config, machine, fronts_of(fronts_), monotonic_now()) {}

void Core::make_member(const replica::MemberConfig& config, replica::MemberStart start,
                       replica::StateReceiver& receiver) {
  member_ = std::make_unique<replica::Member>(config, std::move(start), replica_, machine_, receiver);
}

void Core::start(Instant now) {
  ENSURE(member_ && log_ && wake_ && halt_, "a core starts when all its parts are there");
  std::lock_guard running(replica_mutex_);
  replica::Effects effects;
  member_->start(now, effects);
  carry_out(effects);
  settle(now);
}

void Core::post(replica::FrontId front, replica::ToReplica batch) {
  {
    std::lock_guard lock(inbox_mutex_);
    inbox_.push_back({front, std::move(batch), read_clock_ns(CLOCK_MONOTONIC)});
  }
  wake_();
}

void Core::post_done(const zab::DiskAnswer& answer) {
  {
    std::lock_guard lock(inbox_mutex_);
    answers_.push_back(answer);
  }
  wake_();
}

void Core::post_disk_full(bool full) {
  {
    std::lock_guard lock(inbox_mutex_);
    disk_full_ = full;
  }
  wake_();
}

bool Core::run(Instant now) {
  std::optional<bool> disk_full;
  {
    std::lock_guard lock(inbox_mutex_);
    working_.swap(inbox_);
    answers_working_.swap(answers_);
    disk_full = std::exchange(disk_full_, std::nullopt);
  }
  if (working_.empty() && answers_working_.empty() && !disk_full) {
    if (peers_) peers_->flush();
    return peers_ != nullptr;
  }
  std::lock_guard running(replica_mutex_);
  if (disk_full) replica_.set_disk_full(*disk_full);
  // First the answers, then the new requests: those are then judged against fewer pending changes.
  for (const zab::DiskAnswer& answer : answers_working_) give_answer(answer, now);
  answers_working_.clear();
  settle(now);
  count_waiting();
  const WallTime wall = wall_now();
  for (Posted& posted : working_) work_on(posted, now, wall);
  working_.clear();
  settle(now);
  if (peers_) peers_->flush();
  return true;
}

void Core::count_waiting() {
  std::uint64_t requests = 0;
  for (const Posted& posted : working_) requests += posted.batch.writes.size() + posted.batch.sessions.size();
  const bool learning = replica_.service() == replica::Service::kLearning;
  if (requests > 0) (learning ? stats_.queued_for_leader : stats_.queued_here).add(requests);
}

void Core::work_on(Posted& posted, Instant now, WallTime wall) {
  // No client waits for touched sessions alone, and a learner only forwards.
  const bool measured = (!posted.batch.writes.empty() || !posted.batch.sessions.empty()) &&
                        replica_.service() != replica::Service::kLearning;
  const std::int64_t begin_ns = measured ? read_clock_ns(CLOCK_MONOTONIC) : 0;
  replica::Effects effects;
  member_->on_front(posted.front, posted.batch, now, wall, effects);
  const std::int64_t prepared_ns = measured ? read_clock_ns(CLOCK_MONOTONIC) : 0;
  carry_out(effects);
  audit();
  if (!measured) return;
  stats_.queue_ms.add(ms_between(posted.posted_ns, begin_ns));
  stats_.prepare_ms.add(ms_between(begin_ns, prepared_ns));
  stats_.hand_over_ms.add(ms_between(prepared_ns, read_clock_ns(CLOCK_MONOTONIC)));
}

void Core::audit() {
  if (!write_audit_) return;
  if (const auto lines = replica_.take_audit_lines(); !lines.empty()) write_audit_(lines);
}

void Core::give_answer(const zab::DiskAnswer& answer, Instant now) {
  replica::Effects effects;
  member_->on_disk(answer, now, effects);
  carry_out(effects);
}

void Core::settle(Instant now) {
  while (member_->has_tree_work()) {
    replica::Effects effects;
    apply_with_writer_lock([&] { member_->work_on_tree(now, wall_now(), effects); });
    carry_out(effects);
  }
  may_snapshot_.store(member_->is_state_exact(), std::memory_order_relaxed);
}

std::size_t Core::on_link_bytes(zab::LinkId link, std::string_view bytes, Instant now) {
  ENSURE(peers_, "a standalone server has no links");
  std::lock_guard running(replica_mutex_);
  const WallTime wall = wall_now();
  std::size_t taken = 0;
  for (bool more = true; more && taken < bytes.size();) {
    replica::Effects effects;
    const auto give = [&] {
      const std::size_t n = member_->on_link_bytes(link, bytes.substr(taken), now, wall, effects);
      taken += n;
      more = n > 0;
    };
    if (member_->is_receiving_state()) {
      with_writer_lock(give);
    } else {
      give();
    }
    carry_out(effects);
    settle(now);
  }
  ENSURE(taken <= bytes.size(), "no more is taken than there is");
  return taken;
}

std::optional<Instant> Core::next_time() const {
  if (!peers_) return std::nullopt;
  auto next = peers_->next_time();
  if (const auto peer = member_->next_time(); peer && (!next || *peer < *next)) next = peer;
  return next;
}

void Core::on_time(Instant now) {
  if (!peers_) return;
  peers_->on_time(now);
  if (const auto due = member_->next_time(); !due || *due > now) return;
  input(now, [&](replica::Member& member, replica::Effects& effects) { member.on_time(now, effects); });
}

void Core::tick(Instant now) {
  std::lock_guard running(replica_mutex_);
  replica::Effects effects;
  member_->on_tick(now, wall_now(), effects);
  carry_out(effects);
  settle(now);
}

bool Core::idle() {
  std::lock_guard running(replica_mutex_);
  std::lock_guard lock(inbox_mutex_);
  return inbox_.empty() && replica_.in_flight() == 0;
}

template <class Change>
void Core::with_writer_lock(Change change) {
  std::vector<const FrontPort*> to_wake;
  {
    TreeLock::Writing writing(lock_);
    change();
    for (const FrontPort& port : fronts_) {
      if (port.front->has_staged()) to_wake.push_back(&port);
    }
  }
  audit();
  for (const FrontPort* port : to_wake) port->wake();
}

template <class Change>
void Core::apply_with_writer_lock(Change change) {
  const std::uint64_t before = replica_.stats().txns_applied;
  const std::int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
  with_writer_lock(change);
  const std::uint64_t applied = replica_.stats().txns_applied - before;
  if (applied == 0) return;
  stats_.applied_txns.add(applied);
  stats_.apply_ms.add(ms_between(begin_ns, read_clock_ns(CLOCK_MONOTONIC)));
}

void Core::carry_out(replica::Effects& effects) {
  if (effects.halt) halt_(*effects.halt);
  ENSURE(effects.ordered.empty() && effects.to_leader.empty(),
         "a member has passed on what its replica asked");
  for (const std::string& line : effects.zab.log) log_info("ensemble", "{}", line);
  for (const std::string& line : effects.zab.warnings) log_warn("ensemble", "{}", line);
  if (peers_) {
    // Other servers first: their disks work in parallel with ours, even when we wait for our own disk.
    peers_->carry_out(effects.zab, member_->peer().memberships());
    if (!effects.zab.disk.empty()) peers_->flush();
  }
  // Before the files change: after that, a snapshot of the state in memory would bring back what was
  // truncated or moved away.
  if (!member_->is_state_exact()) may_snapshot_.store(false, std::memory_order_relaxed);
  for (zab::DiskOrder& order : effects.zab.disk) {
    std::visit([&](auto& each) { log_->submit(host::DiskOrder{std::move(each)}); }, order);
  }
  if (effects.zab.discard_history) log_->submit(host::DiskOrder{host::DiscardHistory{}});
  if (effects.answers.empty()) return;
  with_writer_lock([&] {
    for (const replica::SessionAnswer& answer : effects.answers) {
      ENSURE(static_cast<std::size_t>(answer.front) < fronts_.size(), "an answer belongs to a front");
      fronts_[static_cast<std::size_t>(answer.front)].front->on_session_answer(answer);
    }
  });
}

}  // namespace drover::server
