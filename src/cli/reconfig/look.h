// SPDX-License-Identifier: Apache-2.0
//
// How servers are: by `srvr`, which every server answers by default, and `conf`, if it is allowed.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "cli/reconfig/plan.h"

namespace drover::cli::reconfig {

// The servers' state by id. With `ports`, also whether the election ports accept connections. Quorum ports
// are not asked: only the leader listens there.
std::map<std::int64_t, Health> look_at(const std::vector<EnsembleMember>& members, bool ports);

// "leader", "follower", "observer", "looking", "down", "standalone" or "unknown".
std::string state_text(const Health& health);

}  // namespace drover::cli::reconfig
