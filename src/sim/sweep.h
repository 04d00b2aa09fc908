// SPDX-License-Identifier: Apache-2.0
//
// Every crash point of a script: one server stops before its n-th change of the disk, or its n-th send, and
// comes back with what was not synced lost, kept or torn. Whatever happens, no rule is broken and the cluster
// recovers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/script.h"
#include "sim/server.h"

namespace drover::sim {

struct SweepCase {
  ServerId server{};
  SimServer::CrashPoint point;
};
// "1:disk:17:lose", and back; server 0 when the text is none.
std::string text_of(const SweepCase& each);
SweepCase parse_sweep_case(const std::string& text);

// Why it failed; empty: it did not.
std::string run_sweep_case(const Script& script, const SweepCase& each, const RunOptions& options = {});

struct SweepResult {
  std::uint64_t cases = 0;
  std::uint64_t failures = 0;
};
// `part` of `parts`: for running them side by side. Tells of each failure.
SweepResult sweep(const Script& script, std::uint64_t part, std::uint64_t parts,
                  const std::function<void(const SweepCase&, const std::string& why)>& on_failure);

}  // namespace drover::sim
