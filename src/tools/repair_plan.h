// SPDX-License-Identifier: Apache-2.0
//
// What can be done for a damaged data directory, and what it would cost. A pure judgement on a survey:
// nothing is touched here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "tools/survey.h"

namespace drover::tools {

struct TailCut {
  std::string file;
  std::uint64_t offset = 0;
};

// Transactions (after, up_to] may have been acknowledged and would be gone.
struct Loss {
  Zxid after{};
  Zxid up_to{};
};

struct RepairPlan {
  std::string impossible;               // why nothing can be done; the rest is empty then
  std::vector<std::string> snapshots;   // that do not verify: set aside
  std::optional<Zxid> truncate_to;      // everything after it is cut off
  std::optional<TailCut> tail;          // what a crash tore; nobody was ever told that it happened
  std::optional<std::string> leftover;  // an empty last log: deleted
  std::optional<Loss> loss;
  std::vector<std::string> advice;  // what stays wrong, and what to do

  bool is_empty() const { return snapshots.empty() && !truncate_to && !tail && !leftover; }
  // One line for each step, in the order in which they are done.
  std::vector<std::string> describe() const;
};

RepairPlan plan_repair(const Survey& survey);

}  // namespace drover::tools
