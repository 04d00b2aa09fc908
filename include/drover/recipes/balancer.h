// SPDX-License-Identifier: Apache-2.0
//
// Chooses one of several instances, locally.
//
//   Balancer balancer(Pick::kTwoChoices);
//   auto i = balancer.choose(ids);             // none: there is nobody, or everybody is down
//   if (i) balancer.begin(ids[*i]);            // ... and end() when it is done: who is busy is asked less
//   balancer.note_error(ids[*i]);              // twice in 30 s: it is left alone until they have passed
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
  kWeighted,    // at random, each as often as its weight says
  kLeastBusy,   // of those with the fewest begun and not ended, one at random
  kTwoChoices,  // the less busy of two at random: as good, and without everybody going to the same one
  kSticky,      // the same until it goes or is down
  kHashed,  // by the key: everybody who asks for it gets the same, and few keys move when one comes or goes
};

struct BalancerOptions {
  std::function<double(std::string_view id)> weight = {};  // of kWeighted; none: all the same
  int errors_max = 2;                                      // so many within `window` mean it is down
  std::chrono::milliseconds window{30'000};
  std::uint64_t seed = 0;  // 0: another one each time
};

class Balancer {
 public:
  explicit Balancer(Pick pick, BalancerOptions options = {});

  // An index into `ids`.
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
