// SPDX-License-Identifier: Apache-2.0
//
// Chooses one of several instances, locally.
//
//   Balancer balancer(Pick::kTwoChoices);
//   auto i = balancer.choose(ids);             // none: no instance, or all are down
//   if (i) balancer.begin(ids[*i]);            // ... and end() later: busy instances are chosen less often
//   balancer.note_error(ids[*i]);              // two errors within 30 s: the instance is down for a while
//
// Instances are identified by their ids, so one that returns with other data is the same. Not thread-safe;
// discovery::Provider is.
//
// Curator: ProviderStrategy and DownInstanceManager of x-discovery. kazoo: nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drover/wait.h"

namespace drover::discovery {

enum class Pick : std::uint8_t {
  kRoundRobin,
  kRandom,
  kWeighted,    // at random, in proportion to the weights
  kLeastBusy,   // one with the fewest calls in progress
  kTwoChoices,  // the less busy of two random ones: nearly as even, and clients do not all choose the same
                // one
  kSticky,      // the same until it leaves or is down
  kHashed,      // by the key: all clients choose the same one, and few keys move when instances come or go
};

struct BalancerOptions {
  std::function<double(std::string_view id)> weight = {};  // for kWeighted; none: equal weights
  int errors_max = 2;                                      // this many errors within `window`: it is down
  std::chrono::milliseconds window{30'000};
  std::uint64_t seed = 0;  // 0: random
};

class Balancer {
 public:
  explicit Balancer(Pick pick, BalancerOptions options = {});

  // Returns an index into `ids`.
  std::optional<std::size_t> choose(const std::vector<std::string>& ids, std::string_view key = {});

  void begin(const std::string& id) { ++busy_[id]; }
  void end(const std::string& id);
  void note_error(const std::string& id);
  bool is_down(const std::string& id) const;

 private:
  using Indices = std::vector<std::size_t>;
  std::size_t pick_one(const std::vector<std::string>& ids, const Indices& up, std::string_view key);
  std::size_t weighted(const std::vector<std::string>& ids, const Indices& up);
  std::size_t least_busy(const std::vector<std::string>& ids, const Indices& up);
  std::size_t two_choices(const std::vector<std::string>& ids, const Indices& up);
  std::size_t sticky(const std::vector<std::string>& ids, const Indices& up);
  std::uint64_t busy(const std::string& id) const;
  std::uint64_t random();

  Pick pick_;
  BalancerOptions options_;
  std::uint64_t random_;
  std::uint64_t turn_ = 0;
  std::string stuck_to_;
  std::map<std::string, std::uint64_t> busy_;
  std::map<std::string, std::deque<Clock::time_point>> errors_;
};

}  // namespace drover::discovery
