// SPDX-License-Identifier: Apache-2.0
//
// A whole load: nodes to work on, sessions, the time it takes, and nothing left behind.
#pragma once

#include <memory>
#include <vector>

#include "cli/bench_plan.h"
#include "cli/bench_session.h"
#include "drover/client.h"

namespace drover::cli::observe {

using BenchSessions = std::vector<std::shared_ptr<BenchSession>>;

// Blocks until it is over, with a line of progress on a terminal. Ctrl-C ends it early, and counts what there
// is.
Result<void> run_load(const Client& control, const Plan& plan, Outcome& outcome);

// Everything below these nodes and themselves.
Result<void> remove_tree(const Client& client, const std::string& root);
// What an earlier load has left: the names that begin as ours do.
Result<std::vector<std::string>> find_leftovers(const Client& client);

// --- loads that are not requests (bench_recipes.cc) ---
// Everybody contends for the locks, in turn.
void begin_locks(const BenchSessions& sessions);
// The first session writes, all others are told.
Result<void> begin_watches(const BenchSessions& sessions);

}  // namespace drover::cli::observe
