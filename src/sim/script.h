// SPDX-License-Identifier: Apache-2.0
//
// Short stories of a cluster, each about one thing that can happen to it. By themselves they are scenario
// tests; the sweep crashes one server at every single step of each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/cluster.h"
#include "sim/plan.h"
#include "sim/tally.h"

namespace drover::sim {

struct Script {
  std::string name;
  Plan plan;
  // Runs after start(); afterwards the world is healed and judged.
  std::function<void(Cluster&)> act;
  std::vector<Did> shows;  // what it is about: these happen in every run without a crash
};

const std::vector<Script>& scripts();
const Script* find_script(const std::string& name);

// Runs the whole story; true if no rule was broken.
bool tell(Cluster& cluster, const Script& script);

}  // namespace drover::sim
