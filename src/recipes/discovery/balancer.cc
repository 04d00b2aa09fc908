// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/balancer.h"

#include <algorithm>
#include <random>
#include <utility>

namespace drover::discovery {
namespace {

// Spreads every bit of the input over the whole output (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

// Equal in every process, unlike std::hash.
std::uint64_t hash_of(std::string_view key, std::string_view id) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  const auto add = [&hash](std::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  };
  add(key);
  add(std::string_view("\0", 1));
  add(id);
  return mixed(hash);
}

}  // namespace

Balancer::Balancer(Pick pick, BalancerOptions options)
    : pick_(pick), options_(std::move(options)), random_(options_.seed) {
  if (random_ == 0) random_ = std::random_device{}();
}

std::optional<std::size_t> Balancer::choose(const std::vector<std::string>& ids, std::string_view key) {
  Indices up;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!is_down(ids[i])) up.push_back(i);
  }
  if (up.empty()) return std::nullopt;
  return pick_one(ids, up, key);
}

std::size_t Balancer::pick_one(const std::vector<std::string>& ids, const Indices& up, std::string_view key) {
  switch (pick_) {
    case Pick::kRoundRobin: return up[turn_++ % up.size()];
    case Pick::kRandom: return up[random() % up.size()];
    case Pick::kWeighted: return weighted(ids, up);
    case Pick::kLeastBusy: return least_busy(ids, up);
    case Pick::kTwoChoices: return two_choices(ids, up);
    case Pick::kSticky: return sticky(ids, up);
    case Pick::kHashed:
      return *std::ranges::max_element(up, {}, [&](std::size_t i) { return hash_of(key, ids[i]); });
  }
  return up.front();
}

std::size_t Balancer::weighted(const std::vector<std::string>& ids, const Indices& up) {
  const auto weight = [&](std::size_t i) {
    return options_.weight ? std::max(0.0, options_.weight(ids[i])) : 1.0;
  };
  double sum = 0;
  for (const std::size_t i : up) sum += weight(i);
  if (sum <= 0) return up[random() % up.size()];
  double at = static_cast<double>(random() >> 11) * 0x1p-53 * sum;
  for (const std::size_t i : up) {
    at -= weight(i);
    if (at < 0) return i;
  }
  return up.back();
}

std::size_t Balancer::least_busy(const std::vector<std::string>& ids, const Indices& up) {
  Indices best;
  for (const std::size_t i : up) {
    if (!best.empty() && busy(ids[i]) > busy(ids[best.front()])) continue;
    if (!best.empty() && busy(ids[i]) < busy(ids[best.front()])) best.clear();
    best.push_back(i);
  }
  return best[random() % best.size()];
}

std::size_t Balancer::two_choices(const std::vector<std::string>& ids, const Indices& up) {
  const std::size_t first = random() % up.size();
  if (up.size() == 1) return up[first];
  const std::size_t second = (first + 1 + random() % (up.size() - 1)) % up.size();
  return busy(ids[up[second]]) < busy(ids[up[first]]) ? up[second] : up[first];
}

std::size_t Balancer::sticky(const std::vector<std::string>& ids, const Indices& up) {
  for (const std::size_t i : up) {
    if (ids[i] == stuck_to_) return i;
  }
  const std::size_t next = up[random() % up.size()];
  stuck_to_ = ids[next];
  return next;
}

void Balancer::end(const std::string& id) {
  const auto found = busy_.find(id);
  if (found != busy_.end() && --found->second == 0) busy_.erase(found);
}

void Balancer::note_error(const std::string& id) {
  const Clock::time_point now = Clock::now();
  std::erase_if(errors_, [&](const auto& each) { return each.second.back() + options_.window <= now; });
  auto& times = errors_[id];
  times.push_back(now);
  if (times.size() > static_cast<std::size_t>(std::max(1, options_.errors_max))) times.pop_front();
}

bool Balancer::is_down(const std::string& id) const {
  const auto found = errors_.find(id);
  if (found == errors_.end()) return false;
  const Clock::time_point since = Clock::now() - options_.window;
  return std::ranges::count_if(found->second, [&](auto at) { return at > since; }) >= options_.errors_max;
}

std::uint64_t Balancer::busy(const std::string& id) const {
  const auto found = busy_.find(id);
  return found == busy_.end() ? 0 : found->second;
}

std::uint64_t Balancer::random() { return mixed(random_ += 0x9E3779B97F4A7C15ull); }

}  // namespace drover::discovery
