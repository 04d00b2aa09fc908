// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/time_lease.h"

#include <utility>

#include "base/child_path.h"
#include "recipes/locks/lease_data.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// The node as it was read; without one, version and czxid mean nothing.
struct Seen {
  bool exists = false;
  Version version{};
  std::optional<LeaseData> lease;
};

}  // namespace

struct TimeLease::State {
  system_clock::time_point now() const { return options.now ? options.now() : system_clock::now(); }
  std::string node() const { return child_path(path, "lease_holder"); }

  static Task<Result<Seen>> look(std::shared_ptr<const State> state, Wait wait);
  Result<void> judge_clock(const Stat& written) const;
  static Task<Result<void>> check_clock(std::shared_ptr<const State> state, Wait wait);
  static Task<Result<bool>> write(std::shared_ptr<const State> state, Seen seen, std::string data, Wait wait);
  static Task<Result<bool>> acquire(std::shared_ptr<const State> state, Wait wait);
  static Task<Result<void>> give_up(std::shared_ptr<const State> state, Wait wait);
  static Task<Result<std::optional<Holder>>> holder(std::shared_ptr<const State> state, Wait wait);

  Client client;
  std::string path;
  std::string name;
  std::chrono::seconds duration;
  TimeLeaseOptions options;
};

Task<Result<Seen>> TimeLease::State::look(std::shared_ptr<const State> state, Wait wait) {
  for (;;) {
    auto syncing = state->client.sync(state->node(), wait);
    const Result<void> synced = co_await std::move(syncing);
    if (!synced && !is_recoverable(synced.error())) co_return std::unexpected(synced.error());
    if (!synced) {
      CO_TRY(pause_before_retry(state->client, synced.error(), wait));
      continue;
    }
    auto reading = read_node(state->client, state->node(), nullptr, wait);
    const Result<NodeData> node = co_await std::move(reading);
    if (!node && node.error() == Errc::kNoNode) co_return Seen{};
    if (!node) co_return std::unexpected(node.error());
    auto lease = decode_lease(node->data);
    if (!lease) co_return fail(Errc::kBadData, state->node());
    co_return Seen{true, node->stat.version, std::move(lease)};
  }
}

Result<void> TimeLease::State::judge_clock(const Stat& written) const {
  const system_clock::time_point server{milliseconds(written.mtime_ms)};
  if (std::chrono::abs(server - now()) <= options.clock_tolerance) return {};
  return fail(Errc::kStale, node(), "this machine's clock differs too much from the server's");
}

// Checks this machine's clock before another holder's lease is touched: a write that changes nothing returns
// the server's time.
Task<Result<void>> TimeLease::State::check_clock(std::shared_ptr<const State> state, Wait wait) {
  for (;;) {
    auto reading = read_node(state->client, state->path, nullptr, wait);
    Result<NodeData> node = co_await std::move(reading);
    Result<Stat> written = std::unexpected(node ? Error{} : node.error());
    if (node) {
      auto writing = state->client.set(state->path, std::move(node->data), node->stat.version, wait);
      written = co_await std::move(writing);
    }
    if (written) co_return state->judge_clock(*written);
    if (written.error() == Errc::kBadVersion) continue;
    if (written.error() == Errc::kNoNode) {
      auto making = state->client.create(state->path, {}, {.acl = state->options.acl, .parents = true}, wait);
      const Result<Created> made = co_await std::move(making);
      if (made || made.error() == Errc::kNodeExists) continue;
      written = std::unexpected(made.error());
    }
    if (!is_recoverable(written.error())) co_return std::unexpected(written.error());
    CO_TRY(pause_before_retry(state->client, written.error(), wait));
  }
}

// False: it is not, or not certainly, as it was seen any more; look again.
Task<Result<bool>> TimeLease::State::write(std::shared_ptr<const State> state, Seen seen, std::string data,
                                           Wait wait) {
  if (seen.exists) {
    auto setting = state->client.set(state->node(), std::move(data), seen.version, wait);
    const Result<Stat> set = co_await std::move(setting);
    if (set) co_return true;
    const bool changed = set.error() == Errc::kBadVersion || set.error() == Errc::kNoNode;
    if (changed) co_return false;
    if (!is_recoverable(set.error())) co_return std::unexpected(set.error());
    CO_TRY(pause_before_retry(state->client, set.error(), wait));
    co_return false;
  }
  const CreateOptions mode{.acl = state->options.acl, .parents = true};
  auto creating = state->client.create(state->node(), std::move(data), mode, wait);
  const Result<Created> created = co_await std::move(creating);
  if (created) co_return true;
  if (created.error() == Errc::kNodeExists) co_return false;
  if (!is_recoverable(created.error())) co_return std::unexpected(created.error());
  CO_TRY(pause_before_retry(state->client, created.error(), wait));
  co_return false;
}

Task<Result<bool>> TimeLease::State::acquire(std::shared_ptr<const State> state, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  const Wait steps = for_steps(state->client, wait);
  std::optional<std::string> written;  // It may have been.
  for (;;) {
    auto looking = look(state, steps);
    const Result<Seen> seen = co_await std::move(looking);
    if (!seen) co_return std::unexpected(seen.error());
    const auto now = state->now();
    if (seen->lease && seen->lease->holder == state->name && written == encode_lease(*seen->lease))
      co_return true;
    const bool taken = seen->lease && seen->lease->holder != state->name;
    if (taken && now < seen->lease->end + state->options.grace) co_return false;
    auto checking = check_clock(state, steps);
    const Result<void> right = co_await std::move(checking);
    if (!right) co_return std::unexpected(right.error());
    const auto end = std::chrono::floor<std::chrono::seconds>(now + state->duration);
    written = encode_lease({state->name, end});
    auto writing = write(state, *seen, *written, steps);
    const Result<bool> done = co_await std::move(writing);
    if (!done || *done) co_return done;
  }
}

Task<Result<void>> TimeLease::State::give_up(std::shared_ptr<const State> state, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  for (;;) {
    auto looking = look(state, wait);
    const Result<Seen> seen = co_await std::move(looking);
    if (!seen) co_return std::unexpected(seen.error());
    if (!seen->lease || seen->lease->holder != state->name) co_return Result<void>{};
    auto removing = state->client.remove(state->node(), seen->version, wait);
    const Result<void> removed = co_await std::move(removing);
    if (removed || removed.error() == Errc::kNoNode) co_return Result<void>{};
    if (removed.error() == Errc::kBadVersion) continue;
    if (!is_recoverable(removed.error())) co_return removed;
    CO_TRY(pause_before_retry(state->client, removed.error(), wait));
  }
}

Task<Result<std::optional<TimeLease::Holder>>> TimeLease::State::holder(std::shared_ptr<const State> state,
                                                                        Wait wait) {
  auto looking = look(std::move(state), std::move(wait));
  const Result<Seen> seen = co_await std::move(looking);
  if (!seen) co_return std::unexpected(seen.error());
  if (!seen->lease) co_return std::optional<Holder>{};
  co_return std::optional<Holder>(Holder{seen->lease->holder, seen->lease->end});
}

TimeLease::TimeLease(Client client, std::string path, std::string holder, std::chrono::seconds duration,
                     TimeLeaseOptions options)
    : state_(new State{std::move(client), std::move(path), std::move(holder), duration, std::move(options)}) {
}

Task<Result<bool>> TimeLease::acquire(Wait wait) const { return State::acquire(state_, std::move(wait)); }
Task<Result<void>> TimeLease::give_up(Wait wait) const { return State::give_up(state_, std::move(wait)); }
Task<Result<std::optional<TimeLease::Holder>>> TimeLease::holder(Wait wait) const {
  return State::holder(state_, std::move(wait));
}

}  // namespace drover::recipes
