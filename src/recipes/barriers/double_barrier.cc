// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/double_barrier.h"

#include <algorithm>
#include <utility>

#include "base/child_path.h"
#include "recipes/barriers/generation.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kReady = "ready";

bool is_member(std::string_view name) { return name != kReady; }

// Where a party is that waits for all others to come.
struct Entry {
  Client client;
  std::string path;
  std::size_t parties;
  Wait wait;

  std::string ready_path() const { return child_path(path, kReady); }
};

Task<Result<std::size_t>> count_members(Entry entry, const Watch* watch = nullptr) {
  auto listing = until_answered(entry.client, [&] {
    return watch ? entry.client.children(entry.path, *watch, entry.wait)
                 : entry.client.children(entry.path, entry.wait);
  });
  const Result<Children> children = co_await std::move(listing);
  if (!children && children.error() == Errc::kNoNode) co_return std::size_t{0};
  if (!children) co_return std::unexpected(children.error());
  co_return static_cast<std::size_t>(std::ranges::count_if(children->names, is_member));
}

// All parties of a round register before its `ready` is created. So a `ready` that we find is of a round that
// began without us: an earlier one, or one that this party was in before its process restarted. It would let
// us in without the others. We wait until that round's parties have left or died, and remove what they left
// behind.
Task<Result<void>> wait_for_last_round(Entry entry, Wait wait) {
  Signal changed(entry.client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    CO_TRY_ASSIGN(const std::optional<Stat> ready, until_answered(entry.client, [&] {
                    return entry.client.exists(entry.ready_path(), watch, entry.wait);
                  }));
    if (!ready) co_return Result<void>{};
    CO_TRY_ASSIGN(const std::size_t members, count_members(entry, &watch));
    if (members == 0) {
      auto removing = entry.client.remove_surely(entry.ready_path(), ready->czxid, entry.wait);
      co_return co_await std::move(removing);
    }
    CO_TRY(changed.wait(wait));
  }
}

bool is_party_name(std::string_view name) {
  return is_member(name) && name.find('/') == std::string_view::npos && name != "." && name != "..";
}

// The name is unique: if the node exists, a reply was lost.
Task<Result<void>> register_party(Entry entry, std::string own) {
  CreateOptions options;
  options.mode = CreateMode::kEphemeral;
  options.parents = true;
  auto creating =
      until_answered(entry.client, [&] { return entry.client.create(own, "", options, entry.wait); });
  const Result<Created> created = co_await std::move(creating);
  if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  co_return Result<void>{};
}

Task<Result<void>> create_ready(Entry entry) {
  auto creating = until_answered(entry.client,
                                 [&] { return entry.client.create(entry.ready_path(), "", {}, entry.wait); });
  const Result<Created> created = co_await std::move(creating);
  if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  co_return Result<void>{};
}

// Waits for `ready`, not for a number of parties: fast ones may have left. Returns its czxid.
Task<Result<Zxid>> wait_for_ready(Entry entry, Wait wait) {
  Signal changed(entry.client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    CO_TRY_ASSIGN(const std::optional<Stat> ready, until_answered(entry.client, [&] {
                    return entry.client.exists(entry.ready_path(), watch, entry.wait);
                  }));
    if (ready) co_return ready->czxid;
    CO_TRY_ASSIGN(const std::size_t members, count_members(entry));
    if (members >= entry.parties) {
      CO_TRY(create_ready(entry));
      continue;
    }
    auto waiting = changed.wait(wait);
    Result<void> woken = co_await std::move(waiting);
    if (!woken) {
      woken.error().applied = Applied::kMaybe;
      co_return std::unexpected(woken.error());
    }
  }
}

}  // namespace

struct DoubleBarrier::State {
  State(Client c, std::string p, DoubleBarrierOptions o)
      : client(std::move(c)), path(std::move(p)), options(std::move(o)) {}

  Client client;
  std::string path;
  DoubleBarrierOptions options;
  // Inside: what is ours.
  OwnNode own;   // kShared
  Zxid ready{};  // kShared
  std::optional<Round> round;

  bool is_inside() const { return own || round; }

  static Task<Result<void>> enter(std::shared_ptr<State> state, Wait wait);
  static Task<Result<void>> enter_shared(std::shared_ptr<State> state, Wait wait);
  static Task<Result<void>> leave(std::shared_ptr<State> state, Wait wait);
  static Task<Result<void>> leave_shared(std::shared_ptr<State> state, Wait wait);
  static Task<Result<void>> leave_round(std::shared_ptr<State> state, Wait wait);
};

Task<Result<void>> DoubleBarrier::State::enter(std::shared_ptr<State> state, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  if (state->is_inside()) co_return fail(Errc::kBadArguments, state->path, "this party has entered already");
  if (state->options.parties < 1)
    co_return fail(Errc::kBadArguments, state->path, "a barrier needs at least one party");
  if (!is_party_name(state->options.party))
    co_return fail(Errc::kBadArguments, state->path, "invalid name of a party: " + state->options.party);
  if (state->options.layout == DoubleBarrierLayout::kShared) {
    auto entering = enter_shared(state, wait);
    co_return co_await std::move(entering);
  }
  CO_TRY_ASSIGN(
      Round round,
      gather(state->client, {state->path, state->options.parties, false, state->options.party}, wait));
  state->round.emplace(std::move(round));
  co_return Result<void>{};
}

Task<Result<void>> DoubleBarrier::State::enter_shared(std::shared_ptr<State> state, Wait wait) {
  CO_TRY_ASSIGN(const Client client, bind_to_session(state->client, for_steps(state->client, wait)));
  const Entry entry{client, state->path, static_cast<std::size_t>(state->options.parties),
                    for_steps(client, wait)};
  const std::string& party = state->options.party;
  if (!party.empty()) CO_TRY(remove_former_life(client, child_path(state->path, party), entry.wait));
  CO_TRY(wait_for_last_round(entry, wait));
  OwnNode own(client, child_path(state->path, party.empty() ? client.new_uuid() : party));
  CO_TRY(register_party(entry, own.path()));
  CO_TRY_ASSIGN(state->ready, wait_for_ready(entry, wait));
  state->own = std::move(own);
  co_return Result<void>{};
}

Task<Result<void>> DoubleBarrier::State::leave(std::shared_ptr<State> state, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  if (!state->is_inside()) co_return fail(Errc::kNotOwner, state->path, "this party has not entered");
  auto leaving = state->round ? leave_round(state, wait) : leave_shared(state, wait);
  co_return co_await std::move(leaving);
}

// Any of the last parties removes `ready`, because each may be the last; but only this round's.
Task<Result<void>> DoubleBarrier::State::leave_shared(std::shared_ptr<State> state, Wait wait) {
  OwnNode own = std::move(state->own);
  const Client client = own.client();
  CO_TRY(leave_together(client, state->path, std::move(own), is_member, wait));
  auto removing =
      client.remove_surely(child_path(state->path, kReady), state->ready, for_steps(client, wait));
  co_return co_await std::move(removing);
}

Task<Result<void>> DoubleBarrier::State::leave_round(std::shared_ptr<State> state, Wait wait) {
  const auto round = std::make_shared<Round>(*std::exchange(state->round, std::nullopt));
  const Client client = round->own.client();
  const auto in_round = [round](std::string_view name) { return round->has_member(name); };
  CO_TRY(leave_together(client, round->directory, std::move(round->own), in_round, wait));
  CO_TRY(retire_round(client, round->directory, for_steps(client, wait)));
  if (round->index() == 0) CO_TRY(retire_rounds_before(client, round->directory, for_steps(client, wait)));
  co_return Result<void>{};
}

DoubleBarrier::DoubleBarrier(Client client, std::string path, DoubleBarrierOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(path), std::move(options))) {}

Task<Result<void>> DoubleBarrier::enter(Wait wait) { return State::enter(state_, std::move(wait)); }
Task<Result<void>> DoubleBarrier::leave(Wait wait) { return State::leave(state_, std::move(wait)); }

}  // namespace drover::recipes
