// SPDX-License-Identifier: Apache-2.0
//
// Votes are ephemeral, and the decision is one transaction that checks all of them.
#include <algorithm>

#include "recipes/transactions/transaction.h"

namespace drover::recipes {
namespace {

std::vector<Op> checks_of(const Transaction& t) {
  std::vector<Op> checks;
  for (const std::string& site : t.record.sites) checks.push_back(Op::check(t.vote_path(site)));
  return checks;
}

Task<Result<std::vector<std::string>>> list_votes(SharedTransaction t, const Watch* watch, Wait wait) {
  auto listing = until_answered(t->client, [&] {
    return watch ? t->client.children(t->votes_path(), *watch, wait)
                 : t->client.children(t->votes_path(), wait);
  });
  Result<Children> children = co_await std::move(listing);
  if (!children && children.error() == Errc::kNoNode) co_return std::vector<std::string>();
  if (!children) co_return std::unexpected(children.error());
  std::ranges::sort(children->names);
  co_return std::move(children->names);
}

bool is_complete(const Transaction& t, const std::vector<std::string>& votes) {
  return std::ranges::all_of(
      t.record.sites, [&](const std::string& site) { return std::ranges::binary_search(votes, site); });
}

// Votes, and waits for the decision, in one session.
Task<Result<Decision>> vote_and_wait(SharedTransaction t, Client client, std::string site, Wait wait) {
  const auto bound = std::make_shared<Transaction>(*t);
  bound->client = client;
  const WordedNode vote(client, t->vote_path(site), client.new_uuid());
  CO_TRY(post_while_undecided(bound, vote.path(), vote.word(), for_steps(t->client, wait)));
  Signal changed(client.scheduler());
  const Watch watch = changed.watch();
  const Clock::time_point patience = Clock::now() + t->options.votes_within;
  for (;;) {
    CO_TRY_ASSIGN(const std::optional<Decision> decision,
                  read_presumed(bound, &watch, for_steps(t->client, wait)));
    if (decision) co_return *decision;
    if (Clock::now() >= patience) {
      auto terminating = terminate(bound, for_steps(t->client, wait));
      co_return co_await std::move(terminating);
    }
    CO_TRY(wait_until(changed, patience, wait));
  }
}

}  // namespace

Task<Result<Decision>> terminate(SharedTransaction t, Wait wait) {
  for (;;) {
    CO_TRY_ASSIGN(const std::optional<Decision> decision, read_presumed(t, nullptr, wait));
    if (decision) co_return *decision;
    CO_TRY_ASSIGN(const std::vector<std::string> votes, list_votes(t, nullptr, wait));
    const bool complete = is_complete(*t, votes);
    CO_TRY_ASSIGN(const std::optional<Decision> decided,
                  decide(t, complete ? Decision::kCommit : Decision::kAbort,
                         complete ? checks_of(*t) : std::vector<Op>(), wait));
    if (decided) co_return *decided;
  }
}

// Aborts as soon as a site that had voted is gone, because it may take long to return.
Task<Result<Decision>> coordinate_combined(SharedTransaction t, Wait wait) {
  Signal changed(t->client.scheduler());
  const Watch watch = changed.watch();
  const Watch votes_watch = changed.watch();
  const Clock::time_point patience = Clock::now() + t->options.votes_within;
  std::vector<std::string> seen;
  for (;;) {
    CO_TRY_ASSIGN(const std::optional<Decision> decision,
                  read_presumed(t, &watch, for_steps(t->client, wait)));
    if (decision) co_return *decision;
    CO_TRY_ASSIGN(std::vector<std::string> votes, list_votes(t, &votes_watch, for_steps(t->client, wait)));
    const bool lost = !std::ranges::includes(votes, seen);
    if (is_complete(*t, votes) || lost || Clock::now() >= patience) {
      const bool commit = is_complete(*t, votes);
      CO_TRY_ASSIGN(const std::optional<Decision> decided,
                    decide(t, commit ? Decision::kCommit : Decision::kAbort,
                           commit ? checks_of(*t) : std::vector<Op>(), for_steps(t->client, wait)));
      if (decided) co_return *decided;
      continue;
    }
    seen = std::move(votes);
    CO_TRY(wait_until(changed, patience, wait));
  }
}

// A prepared site stays prepared and votes again in the next session.
Task<Result<Decision>> participate_combined(SharedTransaction t, std::string site, bool agrees, Wait wait) {
  if (!agrees) {
    CO_TRY_ASSIGN(const std::optional<Decision> decided,
                  decide(t, Decision::kAbort, {}, for_steps(t->client, wait)));
    co_return decided.value_or(Decision::kAbort);
  }
  for (;;) {
    CO_TRY_ASSIGN(const Client client, bind_to_session(t->client, for_steps(t->client, wait)));
    auto voting = vote_and_wait(t, client, site, wait);
    Result<Decision> decision = co_await std::move(voting);
    if (decision || !has_next_session(t->client, decision.error())) co_return decision;
  }
}

}  // namespace drover::recipes
