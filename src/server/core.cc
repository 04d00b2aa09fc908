// SPDX-License-Identifier: Apache-2.0
#include "server/core.h"

#include <algorithm>

#include "server/clock.h"

namespace drover::server {

Core::Core(const replica::ReplicaConfig& config, state::Machine& machine, TreeLock& lock,
           std::vector<FrontPort*> fronts)
    : lock_(lock),
      fronts_(std::move(fronts)),
      replica_(config, machine, monotonic_now()),
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

// Events and replies are in the fronts' hands before any reader can see the new state.
void Core::apply_durable(Zxid last, Instant now) {
  replica::Effects effects;
  {
    TreeLock::Writing writing(lock_);
    effects.to_fronts.resize(fronts_.size());
    for (std::size_t i = 0; i < fronts_.size(); ++i) effects.to_fronts[i].wants_events = fronts_[i]->wants_events();
    replica_.on_durable(last, now, effects);
    applied_ = last;
    send_to_fronts(effects);
  }
  for (std::size_t i = 0; i < fronts_.size(); ++i) fronts_[i]->wake();
}

void Core::send_to_fronts(replica::Effects& effects) {
  for (std::size_t i = 0; i < effects.to_fronts.size(); ++i) {
    if (!effects.to_fronts[i].empty()) fronts_[i]->deliver(std::move(effects.to_fronts[i]));
  }
}

void Core::carry_out(replica::Effects& effects) {
  if (effects.append) log_->submit(std::move(effects.append));
  for (std::size_t i = 0; i < effects.to_fronts.size(); ++i) {
    if (effects.to_fronts[i].empty()) continue;
    fronts_[i]->deliver(std::move(effects.to_fronts[i]));
    fronts_[i]->wake();
  }
}

}  // namespace drover::server
