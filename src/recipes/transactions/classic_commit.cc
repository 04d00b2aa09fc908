// SPDX-License-Identifier: Apache-2.0
//
// The two older forms: sites vote in persistent nodes that exist from the beginning, and either the
// coordinator decides, or each site for itself.
#include "recipes/transactions/transaction.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kFor = "commit";
constexpr std::string_view kAgainst = "abort";

// A vote is written once and stays, even if its reply was lost.
Task<Result<void>> write_vote(SharedTransaction t, std::string site, bool agrees, Wait wait) {
  const std::string word(agrees ? kFor : kAgainst);
  auto writing =
      until_answered(t->client, [&] { return t->client.set(t->vote_path(site), word, kUndecided, wait); });
  const Result<Stat> written = co_await std::move(writing);
  const bool done = written || written.error() == Errc::kBadVersion || written.error() == Errc::kNoNode;
  if (!done) co_return std::unexpected(written.error());
  co_return Result<void>{};
}

// The decision by the votes; empty while it is open. Missing votes are watched.
Task<Result<std::optional<Decision>>> count_votes(SharedTransaction t, const Watch& watch, Wait wait) {
  bool all = true;
  for (const std::string& site : t->record.sites) {
    const std::string path = t->vote_path(site);
    auto reading = until_answered(t->client, [&] { return t->client.get(path, watch, wait); });
    const Result<NodeData> vote = co_await std::move(reading);
    if (!vote && vote.error() != Errc::kNoNode) co_return std::unexpected(vote.error());
    if (!vote || vote->data == kAgainst) co_return std::optional(Decision::kAbort);
    all = all && vote->data == kFor;
  }
  co_return all ? std::optional(Decision::kCommit) : std::nullopt;
}

// All sites reach the same decision; the record only stores it and needs no watch.
Task<Result<Decision>> decide_as_peer(SharedTransaction t, Wait wait) {
  Signal changed(t->client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    CO_TRY_ASSIGN(std::optional<Decision> decision, read_presumed(t, nullptr, for_steps(t->client, wait)));
    if (decision) co_return *decision;
    CO_TRY_ASSIGN(decision, count_votes(t, watch, for_steps(t->client, wait)));
    if (decision) {
      CO_TRY_ASSIGN(const std::optional<Decision> recorded,
                    decide(t, *decision, {}, for_steps(t->client, wait)));
      co_return recorded.value_or(*decision);
    }
    CO_TRY(changed.wait(wait));
  }
}

Task<Result<Decision>> await_decision(SharedTransaction t, Wait wait) {
  Signal changed(t->client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    CO_TRY_ASSIGN(const std::optional<Decision> decision,
                  read_presumed(t, &watch, for_steps(t->client, wait)));
    if (decision) co_return *decision;
    CO_TRY(changed.wait(wait));
  }
}

}  // namespace

Task<Result<Decision>> await_classic(SharedTransaction t, Wait wait) {
  return t->options.form == CommitForm::kPeer ? decide_as_peer(t, std::move(wait))
                                              : await_decision(t, std::move(wait));
}

Task<Result<Decision>> coordinate_classic(SharedTransaction t, Wait wait) {
  if (t->options.form == CommitForm::kPeer) {
    auto deciding = decide_as_peer(t, wait);
    co_return co_await std::move(deciding);
  }
  Signal changed(t->client.scheduler());
  const Watch watch = changed.watch();
  const Clock::time_point patience = Clock::now() + t->options.votes_within;
  for (;;) {
    CO_TRY_ASSIGN(std::optional<Decision> decision, count_votes(t, watch, for_steps(t->client, wait)));
    if (!decision && Clock::now() >= patience) decision = Decision::kAbort;
    if (decision) {
      CO_TRY_ASSIGN(const std::optional<Decision> recorded,
                    decide(t, *decision, {}, for_steps(t->client, wait)));
      if (recorded) co_return *recorded;
    }
    CO_TRY(wait_until(changed, patience, wait));
  }
}

Task<Result<Decision>> participate_classic(SharedTransaction t, std::string site, bool agrees, Wait wait) {
  CO_TRY(write_vote(t, site, agrees, for_steps(t->client, wait)));
  auto waiting = await_classic(t, wait);
  co_return co_await std::move(waiting);
}

}  // namespace drover::recipes
