// SPDX-License-Identifier: Apache-2.0
//
// Runs a load: creates nodes and sessions, measures, and removes everything afterwards.
#pragma once

#include <memory>
#include <vector>

#include "cli/bench/plan.h"
#include "cli/bench/session.h"
#include "drover/client.h"

namespace drover::cli::observe {

using BenchSessions = std::vector<std::shared_ptr<BenchSession>>;

// Blocks until it is over, with a progress line on a terminal. Ctrl-C ends it early and reports the results
// so far.
Result<void> run_load(const Client& control, const Plan& plan, Outcome& outcome);

// Removes these subtrees.
Result<void> remove_tree(const Client& client, const std::string& root);
// Finds what earlier loads left, by the prefix of its names.
Result<std::vector<std::string>> find_leftovers(const Client& client);

// --- loads that are not requests (recipes.cc) ---
// All sessions contend for the locks.
void begin_locks(const BenchSessions& sessions);
// The first session writes, all others watch.
Result<void> begin_watches(const BenchSessions& sessions);

}  // namespace drover::cli::observe
