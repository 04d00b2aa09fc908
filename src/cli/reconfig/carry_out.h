// SPDX-License-Identifier: Apache-2.0
//
// Carries out the steps of a plan, each only if no other client has changed the configuration since.
#pragma once

#include <chrono>

#include "cli/reconfig/plan.h"
#include "drover/client.h"

namespace drover::cli::reconfig {

// Prints the progress, and on a failure the present members and how to go back. True: all steps are done.
bool carry_out(const Client& client, const Found& found, const Plan& plan,
               std::chrono::milliseconds patience);

Result<EnsembleConfig> read_members(const Client& client);

}  // namespace drover::cli::reconfig
