// SPDX-License-Identifier: Apache-2.0
//
// One transaction of a two-phase commit, shared by its coordinator and its sites.
//
//   <root>/<id>               the record; its version is 0 until it is decided, and 1 from then on
//   <root>/<id>/votes/<site>  kCombined: an ephemeral of a site that is for it. Otherwise: made empty by the
//                             coordinator, and written once by the site
//   <root>/<id>/acks/<site>   the site has carried it out
//   <root>/<id>/coordinator   an ephemeral of the coordinator's until it knows the decision
//
// A site that has not acknowledged, or a coordinator whose node exists, knows that a missing record means
// abort, because a committed record is not removed before.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/child_path.h"
#include "recipes/common/steps.h"
#include "recipes/transactions/transaction_record.h"

namespace drover::recipes {

struct Transaction {
  Client client;
  std::string path;
  TwoPhaseCommitOptions options;
  TransactionRecord record{};  // as it was begun, once it was read
  std::string by{};            // of the coordinator: what makes the record its own

  std::string votes_path() const { return child_path(path, "votes"); }
  std::string vote_path(std::string_view site) const { return child_path(votes_path(), site); }
  std::string acks_path() const { return child_path(path, "acks"); }
  std::string coordinator_path() const { return child_path(path, "coordinator"); }
  std::string ack_path(std::string_view site) const { return child_path(acks_path(), site); }
};
using SharedTransaction = std::shared_ptr<Transaction>;

inline constexpr Version kUndecided{0};
inline constexpr Version kDecided{1};

// --- transaction.cc ---
// Reads the record. kNoNode: there is none.
Task<Result<std::optional<Decision>>> read_decision(SharedTransaction t, const Watch* watch, Wait wait);
// The same for callers that know that it existed: if it does not, it was aborted.
Task<Result<std::optional<Decision>>> read_presumed(SharedTransaction t, const Watch* watch, Wait wait);
Task<Result<void>> begin_transaction(SharedTransaction t, Wait wait);
// Creates an ephemeral node of this session, while nothing is decided. A node of an earlier session is
// replaced. If it cannot be created, it is no longer needed, and the record says why. `word` is
// unique.
Task<Result<void>> post_while_undecided(SharedTransaction t, std::string node, std::string word, Wait wait);
// Decides, if all `checks` hold and nobody has decided before. Empty: they do not hold.
Task<Result<std::optional<Decision>>> decide(SharedTransaction t, Decision wanted, std::vector<Op> checks,
                                             Wait wait);
// Removes it with its subtree, if it is decided.
Task<Result<void>> remove_transaction(SharedTransaction t, Wait wait);
// The same, if it is committed and all sites have acknowledged it.
Task<Result<void>> remove_if_known_to_all(SharedTransaction t, Wait wait);
Task<Result<void>> acknowledge_transaction(SharedTransaction t, std::string site, Wait wait);
// Waits for a notification or a time, which is not an error.
Task<Result<void>> wait_until(Signal& changed, Clock::time_point time, Wait wait);

// --- combined_commit.cc ---
Task<Result<Decision>> coordinate_combined(SharedTransaction t, Wait wait);
Task<Result<Decision>> participate_combined(SharedTransaction t, std::string site, bool agrees, Wait wait);
// Decides it; any site or coordinator may call it.
Task<Result<Decision>> terminate(SharedTransaction t, Wait wait);

// --- classic_commit.cc ---
Task<Result<Decision>> coordinate_classic(SharedTransaction t, Wait wait);
Task<Result<Decision>> participate_classic(SharedTransaction t, std::string site, bool agrees, Wait wait);
// Waits for the decision.
Task<Result<Decision>> await_classic(SharedTransaction t, Wait wait);

}  // namespace drover::recipes
