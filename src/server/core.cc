// SPDX-License-Identifier: Apache-2.0
#include "server/core.h"

#include <algorithm>

#include "server/clock.h"

namespace drover::server {

namespace {

std::vector<replica::Front*> fronts_of(const std::vector<Core::FrontPort>& ports) {
  std::vector<replica::Front*> fronts;
  for (const Core::FrontPort& port : ports) fronts.push_back(port.front);
  return fronts;
}

}  // namespace

Core::Core(const replica::ReplicaConfig& config, state::Machine& machine, TreeLock& lock,
           std::vector<FrontPort> fronts)
    : lock_(lock),
      fronts_(std::move(fronts)),
      replica_(config, machine, fronts_of(fronts_), monotonic_now()),
      applied_(machine.last_zxid),
      durable_(machine.last_zxid) {}

void Core::start(Instant, WallTime wall) {
  std::lock_guard running(replica_mutex_);
  replica::Effects effects;
  replica_.close_orphans(wall, effects);
  carry_out(effects);
}

void Core::post(replica::FrontId front, replica::ToReplica batch) {
  {
    std::lock_guard lock(inbox_mutex_);
    inbox_.push_back({front, std::move(batch)});
  }
  wake_();
}

void Core::post_durable(Zxid last) {
  {
    std::lock_guard lock(inbox_mutex_);
    durable_ = std::max(durable_, last);
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
  Zxid durable{};
  std::optional<bool> disk_full;
  {
    std::lock_guard lock(inbox_mutex_);
    working_.swap(inbox_);
    durable = durable_;
    disk_full = std::exchange(disk_full_, std::nullopt);
  }
  if (working_.empty() && durable <= applied_ && !disk_full) return false;

  std::lock_guard running(replica_mutex_);
  if (disk_full) replica_.set_disk_full(*disk_full);
  // First what is decided, then what is new: it is judged against a smaller set of pending changes.
  if (durable > applied_) apply_durable(durable, now);
  const WallTime wall = wall_now();
  for (Posted& posted : working_) {
    replica::Effects effects;
    replica_.on_front(posted.front, posted.batch, now, wall, effects);
    carry_out(effects);
  }
  working_.clear();
  if (replica_.has_refused()) apply_durable(applied_, now);
  return true;
}

void Core::tick(Instant now) {
  std::lock_guard running(replica_mutex_);
  replica::Effects effects;
  replica_.on_tick(now, wall_now(), effects);
  carry_out(effects);
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
  for (const FrontPort* port : to_wake) port->wake();
}

void Core::apply_durable(Zxid last, Instant now) {
  with_writer_lock([&] { replica_.on_durable(last, now); });
  applied_ = last;
}

void Core::carry_out(replica::Effects& effects) {
  if (effects.append) log_->submit(std::move(effects.append));
  if (effects.answers.empty()) return;
  with_writer_lock([&] {
    for (const replica::SessionAnswer& answer : effects.answers) {
      fronts_[static_cast<std::size_t>(answer.front)].front->on_session_answer(answer);
    }
  });
}

}  // namespace drover::server
