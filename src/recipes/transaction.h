// SPDX-License-Identifier: Apache-2.0
//
// One transaction of a two-phase commit, as its coordinator and its sites share it.
//
//   <root>/<id>               the record; its version is 0 until it is decided, and 1 from then on
//   <root>/<id>/votes/<site>  kCombined: an ephemeral of a site that is for it. Otherwise: made empty by the
//                             coordinator, and written once by the site
//   <root>/<id>/acks/<site>   the site has carried it out
//   <root>/<id>/coordinator   an ephemeral of the coordinator's until it knows the decision
//
// Whoever finds no record knows that it was aborted, if it was not to be removed without his consent: a site
// that has not acknowledged it, or the coordinator that has its node there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recipes/steps.h"
#include "recipes/transaction_record.h"

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
// Reads the record. kNoNode: it does not exist.
Task<Result<std::optional<Decision>>> read_decision(SharedTransaction t, const Watch* watch, Wait wait);
// The same for those who know that it existed: if it does not, it was aborted.
Task<Result<std::optional<Decision>>> read_presumed(SharedTransaction t, const Watch* watch, Wait wait);
Task<Result<void>> begin_transaction(SharedTransaction t, Wait wait);
// An ephemeral of this session, as long as nothing is decided. What is there of an earlier session is
// replaced: that one will not speak again. When it cannot be made it is not needed any more, and the record
// says why. `word` is nobody else's.
Task<Result<void>> post_while_undecided(SharedTransaction t, std::string node, std::string word, Wait wait);
// Decides so, if all `checks` hold and nobody has decided before. Nothing: they do not hold.
Task<Result<std::optional<Decision>>> decide(SharedTransaction t, Decision wanted, std::vector<Op> checks,
                                             Wait wait);
// Removes it and all below it, if it is decided.
Task<Result<void>> remove_transaction(SharedTransaction t, Wait wait);
// The same, if it is committed, and all who have to know it do.
Task<Result<void>> remove_if_known_to_all(SharedTransaction t, Wait wait);
Task<Result<void>> acknowledge_transaction(SharedTransaction t, std::string site, Wait wait);
// Until notified or the time comes, which is no error.
Task<Result<void>> wait_until(Signal& changed, Clock::time_point time, Wait wait);

// --- combined_commit.cc ---
Task<Result<Decision>> coordinate_combined(SharedTransaction t, Wait wait);
Task<Result<Decision>> participate_combined(SharedTransaction t, std::string site, bool agrees, Wait wait);
// Decides it, whoever we are.
Task<Result<Decision>> terminate(SharedTransaction t, Wait wait);

// --- classic_commit.cc ---
Task<Result<Decision>> coordinate_classic(SharedTransaction t, Wait wait);
Task<Result<Decision>> participate_classic(SharedTransaction t, std::string site, bool agrees, Wait wait);
// Waits for the decision.
Task<Result<Decision>> await_classic(SharedTransaction t, Wait wait);

}  // namespace drover::recipes
