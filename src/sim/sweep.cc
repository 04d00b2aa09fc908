// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep.h"

#include <array>
#include <cstdlib>

namespace drover::sim {
namespace {

using Kind = SimServer::CrashPoint::Kind;
using storage::Survival;

constexpr std::array<const char*, 2> kKinds = {"disk", "send"};
constexpr std::array<const char*, 3> kSurvivals = {"lose", "keep", "tear"};

template <std::size_t N>
std::size_t index_of(const std::array<const char*, N>& names, const std::string& name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (name == names[i]) return i;
  }
  return N;
}

}  // namespace

std::string text_of(const SweepCase& each) {
  return std::to_string(raw(each.server)) + ":" + kKinds[static_cast<std::size_t>(each.point.kind)] + ":" +
         std::to_string(each.point.number) + ":" + kSurvivals[static_cast<std::size_t>(each.point.survival)];
}

SweepCase parse_sweep_case(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() != 4) return {};
  const std::size_t kind = index_of(kKinds, parts[1]);
  const std::size_t survival = index_of(kSurvivals, parts[3]);
  if (kind == kKinds.size() || survival == kSurvivals.size()) return {};
  return {ServerId{std::strtoll(parts[0].c_str(), nullptr, 10)},
          {static_cast<Kind>(kind), std::strtoull(parts[2].c_str(), nullptr, 10),
           static_cast<Survival>(survival)}};
}

std::string run_sweep_case(const Script& script, const SweepCase& each, const RunOptions& options) {
  Cluster cluster(script.plan, options);
  if (raw(each.server) != 0) cluster.server(each.server).set_crash_point(each.point);
  return tell(cluster, script) ? std::string() : cluster.failure();
}

// First finds how far the script takes each server without a crash.
std::vector<SweepCase> sweep_cases(const Script& script) {
  Cluster whole(script.plan, {});
  std::vector<SweepCase> cases;
  if (!tell(whole, script)) return {SweepCase{}};
  for (const ServerId server : script.plan.servers()) {
    for (const Survival survival : {Survival::kLose, Survival::kKeep, Survival::kTear}) {
      for (std::uint64_t n = 0; n < whole.server(server).disk_operations(); ++n)
        cases.push_back({server, {Kind::kDisk, n, survival}});
    }
    // Between two disk operations the unsynced data is the same, whatever is sent there: the worst fate is
    // enough.
    for (std::uint64_t n = 0; n < whole.server(server).sends(); ++n)
      cases.push_back({server, {Kind::kSend, n, Survival::kLose}});
  }
  return cases;
}

}  // namespace drover::sim
