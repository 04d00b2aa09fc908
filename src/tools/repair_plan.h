// SPDX-License-Identifier: Apache-2.0
//
// Plans the repair of a damaged data directory and says what would be lost. A pure function of a survey; it
// changes nothing.
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

// Transactions (after, up_to] may have been acknowledged and would be lost.
struct Loss {
  Zxid after{};
  Zxid up_to{};
};

struct RepairPlan {
  std::string impossible;               // why repair is impossible; then the rest is empty
  std::vector<std::string> snapshots;   // that do not verify: set aside
  std::optional<Zxid> truncate_to;      // everything after it is cut off
  std::optional<TailCut> tail;          // torn tail of a crash, never acknowledged
  std::optional<std::string> leftover;  // an empty last log: deleted
  std::optional<Loss> loss;
  std::vector<std::string> advice;  // remaining problems, and what to do

  bool is_empty() const { return snapshots.empty() && !truncate_to && !tail && !leftover; }
  // One line per step, in order.
  std::vector<std::string> describe() const;
};

RepairPlan plan_repair(const Survey& survey);

}  // namespace drover::tools
