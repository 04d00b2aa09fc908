// SPDX-License-Identifier: Apache-2.0
#include "recipes/transactions/transaction.h"

#include <algorithm>

#include "base/child_path.h"

namespace drover::recipes {
namespace {

// All that is below it, for the transaction that removes it.
Task<Result<std::vector<Op>>> removals_below(SharedTransaction t, std::string directory, Wait wait) {
  std::vector<Op> ops;
  auto listing = until_answered(t->client, [&] { return t->client.children(directory, wait); });
  const Result<Children> children = co_await std::move(listing);
  if (!children && children.error() == Errc::kNoNode) co_return ops;
  if (!children) co_return std::unexpected(children.error());
  for (const std::string& name : children->names) ops.push_back(Op::remove(child_path(directory, name)));
  ops.push_back(Op::remove(directory));
  co_return ops;
}

std::vector<Op> ops_to_begin(const Transaction& t) {
  std::vector<Op> ops;
  ops.push_back(Op::create(t.path, t.record.to_text()));
  ops.push_back(Op::create(t.votes_path()));
  ops.push_back(Op::create(t.acks_path()));
  ops.push_back(Op::create(t.coordinator_path(), t.record.by, {.mode = CreateMode::kEphemeral}));
  if (t.options.form == CommitForm::kCombined) return ops;
  for (const std::string& site : t.record.sites) ops.push_back(Op::create(t.vote_path(site)));
  return ops;
}

}  // namespace

Task<Result<std::optional<Decision>>> read_decision(SharedTransaction t, const Watch* watch, Wait wait) {
  CO_TRY_ASSIGN(const NodeData node, until_answered(t->client, [&] {
                  return watch ? t->client.get(t->path, *watch, wait) : t->client.get(t->path, wait);
                }));
  auto record = TransactionRecord::from_text(node.data);
  if (!record) co_return fail(Errc::kBadData, t->path);
  const std::optional<Decision> decision = record->decision;
  t->record = *std::move(record);
  t->record.decision.reset();
  co_return decision;
}

// Not from a server that has not heard of it yet.
Task<Result<std::optional<Decision>>> read_presumed(SharedTransaction t, const Watch* watch, Wait wait) {
  for (bool synced = false;; synced = true) {
    auto reading = read_decision(t, watch, wait);
    Result<std::optional<Decision>> decision = co_await std::move(reading);
    if (decision || decision.error() != Errc::kNoNode) co_return decision;
    if (synced) co_return std::optional(Decision::kAbort);
    CO_TRY(until_answered(t->client, [&] { return t->client.sync(t->path, wait); }));
  }
}

// After a lost answer the record says whose it is.
Task<Result<void>> begin_transaction(SharedTransaction t, Wait wait) {
  t->record.by = t->by;
  for (;;) {
    auto beginning = t->client.multi(ops_to_begin(*t), wait);
    const Result<std::vector<OpResult>> begun = co_await std::move(beginning);
    if (begun) co_return Result<void>{};
    if (is_recoverable(begun.error())) {
      CO_TRY(pause_before_retry(t->client, begun.error(), wait));
      continue;
    }
    if (begun.error() == Errc::kNoNode) {
      CO_TRY(make_directory(t->client, t->path.substr(0, t->path.rfind('/')), wait));
      continue;
    }
    if (begun.error() != Errc::kNodeExists) co_return std::unexpected(begun.error());
    CO_TRY(read_decision(t, nullptr, wait));
    if (t->record.by == t->by) co_return Result<void>{};
    co_return fail(Errc::kNodeExists, t->path, "this transaction id is in use");
  }
}

Task<Result<std::optional<Decision>>> decide(SharedTransaction t, Decision wanted, std::vector<Op> checks,
                                             Wait wait) {
  TransactionRecord decided = t->record;
  decided.decision = wanted;
  for (;;) {
    std::vector<Op> ops = checks;
    ops.push_back(Op::set(t->path, decided.to_text(), kUndecided));
    auto deciding = t->client.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> done = co_await std::move(deciding);
    const bool look = !done && (is_recoverable(done.error()) || done.error() == Errc::kNoNode ||
                                done.error() == Errc::kBadVersion);
    if (!done && !look) co_return std::unexpected(done.error());
    std::optional<Decision> now = wanted;
    if (!done) {
      CO_TRY_ASSIGN(now, read_presumed(t, nullptr, wait));
    }
    if (now == Decision::kAbort) {
      auto removing = remove_transaction(t, wait);
      const Result<void> removed =
          co_await std::move(removing);  // The decision is final, whatever this returns.
    }
    if (now) co_return now;
    if (!is_recoverable(done.error())) co_return now;
    CO_TRY(pause_before_retry(t->client, done.error(), wait));
  }
}

// The nodes may change meanwhile: another client may remove them, and sites may vote or acknowledge.
Task<Result<void>> remove_transaction(SharedTransaction t, Wait wait) {
  for (;;) {
    std::vector<Op> ops;
    ops.push_back(Op::check(t->path, kDecided));
    CO_TRY_ASSIGN(const std::optional<Stat> coordinator,
                  until_answered(t->client, [&] { return t->client.exists(t->coordinator_path(), wait); }));
    if (coordinator) ops.push_back(Op::remove(t->coordinator_path()));
    for (const std::string& directory : {t->votes_path(), t->acks_path()}) {
      CO_TRY_ASSIGN(std::vector<Op> below, removals_below(t, directory, wait));
      ops.insert(ops.end(), below.begin(), below.end());
    }
    ops.push_back(Op::remove(t->path));
    auto removing = t->client.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> removed = co_await std::move(removing);
    if (removed || (removed.error() == Errc::kNoNode && removed.error().op_index == 0)) {
      co_return Result<void>{};
    }
    const bool again = removed.error() == Errc::kNoNode || removed.error() == Errc::kNotEmpty;
    if (again) continue;
    if (!is_recoverable(removed.error())) co_return std::unexpected(removed.error());
    CO_TRY(pause_before_retry(t->client, removed.error(), wait));
  }
}

Task<Result<void>> acknowledge_transaction(SharedTransaction t, std::string site, Wait wait) {
  CO_TRY_ASSIGN(const std::optional<Decision> decision, read_presumed(t, nullptr, wait));
  if (!decision) co_return fail(Errc::kBadArguments, t->path, "the transaction is not decided yet");
  if (*decision == Decision::kAbort) co_return Result<void>{};
  auto creating =
      until_answered(t->client, [&] { return t->client.create(t->ack_path(site), "", {}, wait); });
  const Result<Created> created = co_await std::move(creating);
  if (!created && created.error() == Errc::kNoNode) co_return Result<void>{};  // An answer was lost.
  if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  auto removing = remove_if_known_to_all(t, wait);
  co_return co_await std::move(removing);
}

// The last who does what makes this true sees that it is: sites and coordinator look after their own write.
Task<Result<void>> remove_if_known_to_all(SharedTransaction t, Wait wait) {
  auto listing = until_answered(t->client, [&] { return t->client.children(t->acks_path(), wait); });
  const Result<Children> acks = co_await std::move(listing);
  if (!acks && acks.error() == Errc::kNoNode) co_return Result<void>{};
  if (!acks) co_return std::unexpected(acks.error());
  for (const std::string& site : t->record.sites) {
    if (std::ranges::find(acks->names, site) == acks->names.end()) co_return Result<void>{};
  }
  CO_TRY_ASSIGN(const std::optional<Stat> coordinator,
                until_answered(t->client, [&] { return t->client.exists(t->coordinator_path(), wait); }));
  if (coordinator) co_return Result<void>{};
  auto removing = remove_transaction(t, wait);
  co_return co_await std::move(removing);
}

Task<Result<void>> post_while_undecided(SharedTransaction t, std::string node, std::string word, Wait wait) {
  for (bool replace = false;;) {
    std::vector<Op> ops;
    ops.push_back(Op::check(t->path, kUndecided));
    if (replace) ops.push_back(Op::remove(node));
    ops.push_back(Op::create(node, word, {.mode = CreateMode::kEphemeral}));
    auto posting = t->client.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> posted = co_await std::move(posting);
    if (posted) co_return Result<void>{};
    const Error& error = posted.error();
    if (is_recoverable(error)) {
      CO_TRY(pause_before_retry(t->client, error, wait));
      continue;
    }
    const bool vanished = replace && error == Errc::kNoNode && error.op_index == 1;
    if (error == Errc::kNodeExists) {
      auto reading = until_answered(t->client, [&] { return t->client.get(node, wait); });
      const Result<NodeData> there = co_await std::move(reading);
      if (there && there->data == word) co_return Result<void>{};
      if (!there && there.error() != Errc::kNoNode) co_return std::unexpected(there.error());
    } else if (error == Errc::kBadVersion || (error == Errc::kNoNode && !vanished)) {
      co_return Result<void>{};
    } else if (!vanished) {
      co_return std::unexpected(error);
    }
    replace = !vanished;
  }
}

Task<Result<void>> wait_until(Signal& changed, Clock::time_point time, Wait wait) {
  const Wait until = Wait::until(std::min(time, wait.deadline), wait.stop);
  auto waiting = changed.wait(until);
  const Result<void> woken = co_await std::move(waiting);
  if (!woken && woken.error() == Errc::kDeadline && until.deadline != wait.deadline) co_return Result<void>{};
  co_return woken;
}

}  // namespace drover::recipes
