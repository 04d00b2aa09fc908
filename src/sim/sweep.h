// SPDX-License-Identifier: Apache-2.0
//
// Every crash point of a script: one server stops before its n-th change of the disk, or its n-th send, and
// comes back with its unsynced data lost, kept or torn. In every case no rule is broken and the cluster
// recovers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/script.h"
#include "sim/server.h"

namespace drover::sim {

struct SweepCase {
  ServerId server{};
  SimServer::CrashPoint point;
};
// "1:disk:17:lose", and back; server 0 if the text is invalid.
std::string text_of(const SweepCase& each);
SweepCase parse_sweep_case(const std::string& text);

// Every crash point of the script: each server, each step, each fate. If the story fails without a crash,
// that is the only case, with server 0.
std::vector<SweepCase> sweep_cases(const Script& script);

// Why it failed; empty: it did not.
std::string run_sweep_case(const Script& script, const SweepCase& each, const RunOptions& options = {});

}  // namespace drover::sim
