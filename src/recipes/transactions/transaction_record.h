// SPDX-License-Identifier: Apache-2.0
//
// What a two-phase commit keeps in its node, as text:
//
//   state pending
//   by 5a8c5f9e-...         who began it
//   site east
//   site west
//
//   payload...
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drover/recipes/two_phase_commit.h"

namespace drover::recipes {

struct TransactionRecord {
  std::optional<Decision> decision{};
  std::string by;
  std::vector<std::string> sites;
  std::string payload;

  bool has_site(std::string_view site) const;
  std::string to_text() const;
  static std::optional<TransactionRecord> from_text(std::string_view text);
};

// A name of a node that is a line too.
bool is_site_name(std::string_view site);

}  // namespace drover::recipes
