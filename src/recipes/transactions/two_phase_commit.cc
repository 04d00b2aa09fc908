// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/two_phase_commit.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/child_path.h"
#include "recipes/transactions/transaction.h"

namespace drover::recipes {
namespace {

using Prepare = TwoPhaseCommit::Prepare;

bool is_combined(const Transaction& t) { return t.options.form == CommitForm::kCombined; }

// In a session after the one it was begun in. Nothing kept the record for us in between: that it is not there
// may mean anything.
Task<Result<std::optional<Decision>>> take_up_again(SharedTransaction t, std::string word, Wait wait) {
  for (bool posted = false;; posted = true) {
    CO_TRY(until_answered(t->client, [&] { return t->client.sync(t->path, wait); }));
    auto reading = read_decision(t, nullptr, wait);
    Result<std::optional<Decision>> decision = co_await std::move(reading);
    if (!decision && decision.error() == Errc::kNoNode) {
      decision.error().applied = Applied::kMaybe;
      decision.error().detail = "it was aborted, or committed and acknowledged by all sites";
    }
    if (!decision) co_return decision;
    if (t->record.by != t->by) co_return fail(Errc::kNodeExists, t->path, "this transaction id is in use");
    if (*decision || posted) co_return decision;
    CO_TRY(post_while_undecided(t, t->coordinator_path(), word, wait));
  }
}

// The coordinator's node may be that of another who was first with this id: only its word says whose it is.
Task<Result<Decision>> coordinate_in_session(SharedTransaction t, bool begun, Wait wait) {
  const WordedNode presence(t->client, t->coordinator_path(), begun ? t->client.new_uuid() : t->by);
  if (begun) {
    CO_TRY_ASSIGN(const std::optional<Decision> decision,
                  take_up_again(t, presence.word(), for_steps(t->client, wait)));
    if (decision) co_return *decision;
  } else {
    CO_TRY(begin_transaction(t, for_steps(t->client, wait)));
  }
  auto coordinating = is_combined(*t) ? coordinate_combined(t, wait) : coordinate_classic(t, wait);
  co_return co_await std::move(coordinating);
}

// After this step the coordinator is not needed.
Task<Result<void>> leave(SharedTransaction t, Decision decision, Wait wait) {
  if (decision == Decision::kCommit) {
    CO_TRY(t->client.remove_surely(t->coordinator_path(), std::nullopt, wait));
  }
  auto removing =
      decision == Decision::kCommit ? remove_if_known_to_all(t, wait) : remove_transaction(t, wait);
  co_return co_await std::move(removing);
}

Task<Result<Decision>> coordinate(SharedTransaction t, Wait wait) {
  auto there = t->client.scheduler().enter();
  co_await there;
  const std::vector<std::string>& sites = t->record.sites;
  const bool distinct = std::set(sites.begin(), sites.end()).size() == sites.size();
  if (sites.empty() || !distinct || !std::ranges::all_of(sites, is_site_name)) {
    co_return fail(Errc::kBadArguments, t->path, "sites must be different, valid node names");
  }
  const Client client = t->client;
  t->by = client.new_uuid();
  for (bool begun = false;; begun = true) {
    CO_TRY_ASSIGN(t->client, bind_to_session(client, for_steps(t->client, wait)));
    auto coordinating = coordinate_in_session(t, begun, wait);
    Result<Decision> decision = co_await std::move(coordinating);
    if (!decision && has_next_session(client, decision.error())) continue;
    if (decision) {
      auto leaving = leave(t, *decision, for_steps(t->client, wait));
      const Result<void> left = co_await std::move(leaving);  // The decision stands, whatever this says.
    }
    co_return decision;
  }
}

// Until it has begun: the site may have heard of it before it has.
Task<Result<std::optional<Decision>>> wait_for_transaction(SharedTransaction t, Wait wait) {
  Signal changed(t->client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    auto reading = read_decision(t, nullptr, for_steps(t->client, wait));
    Result<std::optional<Decision>> decision = co_await std::move(reading);
    if (decision || decision.error() != Errc::kNoNode) co_return decision;
    CO_TRY_ASSIGN(const std::optional<Stat> stat, until_answered(t->client, [&] {
                    return t->client.exists(t->path, watch, for_steps(t->client, wait));
                  }));
    if (!stat) CO_TRY(changed.wait(wait));
  }
}

Task<Result<Decision>> participate(SharedTransaction t, std::string site, Prepare prepare, Wait wait) {
  auto there = t->client.scheduler().enter();
  co_await there;
  CO_TRY_ASSIGN(const std::optional<Decision> decision, wait_for_transaction(t, wait));
  if (decision) co_return *decision;
  if (!t->record.has_site(site))
    co_return fail(Errc::kBadArguments, t->path, site + " is not a site of this transaction");
  auto preparing = prepare(t->record.payload);
  const Result<bool> prepared = co_await std::move(preparing);
  auto enter_again = t->client.scheduler().enter();  // Wherever it was done.
  co_await enter_again;
  const bool agrees = prepared && *prepared;
  auto voting = is_combined(*t) ? participate_combined(t, site, agrees, wait)
                                : participate_classic(t, site, agrees, wait);
  co_return co_await std::move(voting);
}

Task<Result<Decision>> resolve(SharedTransaction t, Wait wait) {
  auto there = t->client.scheduler().enter();
  co_await there;
  // A missing node proves something only if this server is up to date.
  CO_TRY(until_answered(t->client, [&] { return t->client.sync(t->path, for_steps(t->client, wait)); }));
  auto resolving = is_combined(*t) ? terminate(t, for_steps(t->client, wait)) : await_classic(t, wait);
  const Result<Decision> decision = co_await std::move(resolving);
  if (decision) {
    auto removing = *decision == Decision::kCommit ? remove_if_known_to_all(t, for_steps(t->client, wait))
                                                   : remove_transaction(t, for_steps(t->client, wait));
    const Result<void> removed = co_await std::move(removing);  // The decision stands, whatever this says.
  }
  co_return decision;
}

Task<Result<void>> acknowledge(SharedTransaction t, std::string site, Wait wait) {
  auto there = t->client.scheduler().enter();
  co_await there;
  CO_TRY(until_answered(t->client, [&] { return t->client.sync(t->path, wait); }));
  auto acknowledging = acknowledge_transaction(t, site, wait);
  co_return co_await std::move(acknowledging);
}

SharedTransaction make_transaction(const Client& client, const std::string& root, std::string_view id,
                                   const TwoPhaseCommitOptions& options) {
  return std::make_shared<Transaction>(
      Transaction{.client = client, .path = child_path(root, id), .options = options});
}

}  // namespace

TwoPhaseCommit::TwoPhaseCommit(Client client, std::string root, TwoPhaseCommitOptions options)
    : client_(std::move(client)), root_(std::move(root)), options_(options) {}

Task<Result<Decision>> TwoPhaseCommit::coordinate(std::string id, std::string payload,
                                                  std::vector<std::string> sites, Wait wait) const {
  auto transaction = make_transaction(client_, root_, id, options_);
  transaction->record.sites = std::move(sites);
  transaction->record.payload = std::move(payload);
  return recipes::coordinate(std::move(transaction), std::move(wait));
}

Task<Result<Decision>> TwoPhaseCommit::participate(std::string id, std::string site, Prepare prepare,
                                                   Wait wait) const {
  return recipes::participate(make_transaction(client_, root_, id, options_), std::move(site),
                              std::move(prepare), std::move(wait));
}
Task<Result<Decision>> TwoPhaseCommit::resolve(std::string id, Wait wait) const {
  return recipes::resolve(make_transaction(client_, root_, id, options_), std::move(wait));
}
Task<Result<void>> TwoPhaseCommit::acknowledge(std::string id, std::string site, Wait wait) const {
  return recipes::acknowledge(make_transaction(client_, root_, id, options_), std::move(site),
                              for_steps(client_, wait));
}

}  // namespace drover::recipes
