// SPDX-License-Identifier: Apache-2.0
//
// Virtual time: a heap of future events, and nothing else that moves.
//
// One thread, no clock, and every choice from one seed: so a number identifies a run. Events of the same
// instant happen in the order in which they were scheduled.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sim/tally.h"

namespace drover::sim {

using Micros = std::int64_t;
inline constexpr Micros kMillisecond = 1000;
inline constexpr Micros kSecond = 1'000'000;

// A process: it can be stopped, paused and started again. Events of a stopped process do not happen; events
// that come due while it is paused happen when it resumes.
enum class ActorId : std::uint32_t {};
inline constexpr ActorId kTheWorld{0};

class World {
 public:
  using Event = std::move_only_function<void()>;

  explicit World(std::uint64_t seed);

  Micros now() const { return now_; }
  std::uint64_t seed() const { return seed_; }
  std::uint64_t events() const { return events_; }

  // Each part of the world has its own generator: if one part draws differently, the others are not affected.
  Random fork(std::uint64_t salt) const { return Random(seed_ ^ (salt * 0x9E37'79B9'7F4A'7C15ULL)); }

  ActorId new_actor();
  void after(Micros delay, ActorId actor, Event event);
  void after(Micros delay, Event event) { after(delay, kTheWorld, std::move(event)); }
  void stop(ActorId actor);
  void pause(ActorId actor) { actors_[index(actor)].paused = true; }
  void resume(ActorId actor);
  bool is_paused(ActorId actor) const { return actors_[index(actor)].paused; }

  // Runs the next event; false if there is none.
  bool step();
  void run_until(Micros time);

  // --- for observers ---
  void count(Did what, std::uint64_t times = 1) { tally_.add(what, times); }
  const Tally& tally() const { return tally_; }
  void set_tracing(bool tracing) { tracing_ = tracing; }
  bool tracing() const { return tracing_; }
  void say(const std::string& line) const;
  // A rule was broken: the run ends, and this is why. The first one counts.
  void fail(std::string why);
  bool failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }

 private:
  struct Entry {
    ActorId actor{};
    std::uint32_t life = 0;
    Event event;
  };
  // The heap moves its elements often, so it holds only when an entry is due and where it is.
  struct Due {
    Micros at = 0;
    std::uint64_t order = 0;
    std::uint32_t slot = 0;  // in entries_
  };
  struct Later {
    bool operator()(const Due& a, const Due& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  struct Actor {
    std::uint32_t life = 0;
    bool paused = false;
    std::vector<std::pair<std::uint64_t, Entry>> missed;  // with their orders
  };
  static std::size_t index(ActorId actor) { return static_cast<std::size_t>(actor); }
  void push(Micros at, std::uint64_t order, Entry entry);

  std::uint64_t seed_;
  Micros now_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t events_ = 0;
  std::vector<Due> heap_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Actor> actors_;
  Tally tally_;
  bool tracing_ = false;
  std::string failure_;
};

// --- chances ---

template <class T>
T pick(Random& random, std::initializer_list<T> choices) {
  return *(choices.begin() + static_cast<std::ptrdiff_t>(random.below(choices.size())));
}
// True once in `n` times; never when n is 0.
inline bool one_in(Random& random, std::uint64_t n) { return n != 0 && random.below(n) == 0; }
inline bool percent(Random& random, std::uint64_t chance) { return random.below(100) < chance; }
// From low to high, both included.
inline std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}
// Mostly near the low end, sometimes anywhere: as delays are.
Micros skewed(Random& random, Micros low, Micros high);

}  // namespace drover::sim
