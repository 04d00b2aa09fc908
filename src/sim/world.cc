// SPDX-License-Identifier: Apache-2.0
#include "sim/world.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/ensure.h"

namespace drover::sim {

World::World(std::uint64_t seed) : seed_(seed) { actors_.resize(1); }

ActorId World::new_actor() {
  actors_.emplace_back();
  return ActorId{static_cast<std::uint32_t>(actors_.size() - 1)};
}

void World::after(Micros delay, ActorId actor, Event event) {
  ENSURE(delay >= 0, "nothing happens in the past");
  push(now_ + delay, ++order_, {actor, actors_[index(actor)].life, std::move(event)});
}

void World::push(Micros at, std::uint64_t order, Entry entry) {
  auto slot = static_cast<std::uint32_t>(entries_.size());
  if (free_slots_.empty()) {
    entries_.push_back(std::move(entry));
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    entries_[slot] = std::move(entry);
  }
  heap_.push_back({at, order, slot});
  std::push_heap(heap_.begin(), heap_.end(), Later{});
}

void World::stop(ActorId id) {
  Actor& actor = actors_[index(id)];
  ++actor.life;
  actor.paused = false;
  actor.missed.clear();
}

// Runs all events that are due, in order.
void World::resume(ActorId id) {
  Actor& actor = actors_[index(id)];
  actor.paused = false;
  for (auto& [order, entry] : std::exchange(actor.missed, {})) push(now_, order, std::move(entry));
}

bool World::step() {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    const Due due = heap_.back();
    heap_.pop_back();
    Entry entry = std::move(entries_[due.slot]);
    free_slots_.push_back(due.slot);
    ENSURE(due.at >= now_, "time does not run backwards");
    now_ = due.at;
    Actor& actor = actors_[index(entry.actor)];
    if (entry.life != actor.life) continue;
    if (actor.paused) {
      actor.missed.emplace_back(due.order, std::move(entry));
      continue;
    }
    ++events_;
    entry.event();
    return true;
  }
  return false;
}

void World::run_until(Micros time) {
  while (!failed() && !heap_.empty() && heap_.front().at <= time) step();
  if (!failed()) now_ = std::max(now_, time);
}

void World::say(const std::string& line) const {
  if (!tracing_) return;
  std::printf("%10.6f #%llu %s\n", static_cast<double>(now_) / kSecond,
              static_cast<unsigned long long>(events_), line.c_str());
}

void World::fail(std::string why) {
  if (failed()) return;
  failure_ = std::move(why);
  say("FAILED: " + failure_);
}

Micros skewed(Random& random, Micros low, Micros high) {
  const std::int64_t top = one_in(random, 16) ? high : low + (high - low) / 8;
  return between(random, low, std::max(low, top));
}

}  // namespace drover::sim
