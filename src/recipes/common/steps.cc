// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/steps.h"

#include <algorithm>
#include <chrono>

namespace drover::recipes {

namespace {

bool is_connected(ConnectionState state) {
  return state == ConnectionState::kConnected || state == ConnectionState::kReadOnly;
}

}  // namespace

Wait for_steps(const Client& client, const Wait& wait) {
  using std::chrono::milliseconds;
  if (!wait.is_poll()) return wait;
  return Wait::within(std::max(client.session_timeout(), milliseconds(1000)), wait.stop);
}

Task<Result<Client>> bind_to_session(Client client, Wait wait) {
  if (client.bound_session() != SessionId{}) co_return client;
  if (is_connected(client.state()) && client.session() != SessionId{}) co_return client.bound();
  Stream<StateEvent> states = client.states();
  for (;;) {
    auto next = states.next(wait);
    const Result<StateEvent> event = co_await std::move(next);
    if (!event) co_return std::unexpected(event.error());
    if (event->state == ConnectionState::kAuthFailed) co_return fail(Errc::kAuthFailed);
    if (event->state == ConnectionState::kClosed) co_return fail(Errc::kClosed);
    // Another session is on its way by now, or none will come.
    if (event->state == ConnectionState::kExpired && client.state() == ConnectionState::kExpired)
      co_return fail(Errc::kSessionExpired);
    Client bound = client.bound();
    if (is_connected(event->state) && bound.bound_session() == event->session) co_return bound;
  }
}

Task<Result<void>> pause_before_retry(Client client, Error error, Wait wait) {
  if (error == Errc::kConnectionLoss || error == Errc::kSessionExpired) co_return Result<void>{};
  const auto until = Clock::now() + std::chrono::milliseconds(50);
  auto sleeping = client.scheduler().sleep(Wait::until(std::min(until, wait.deadline), wait.stop));
  const Result<void> slept = co_await std::move(sleeping);
  if (!slept && slept.error().error_class() != ErrorClass::kCancelled) co_return slept;
  co_return Result<void>{};
}

Task<Result<void>> make_directory(Client client, std::string path, Wait wait) {
  CreateOptions options;
  options.mode = CreateMode::kContainer;
  options.parents = true;
  auto creating = until_answered(client, [&] { return client.create(path, "", options, wait); });
  Result<Created> created = co_await std::move(creating);
  if (!created && created.error() == Errc::kUnimplemented) {
    options.mode = CreateMode::kPersistent;
    auto again = until_answered(client, [&] { return client.create(path, "", options, wait); });
    created = co_await std::move(again);
  }
  if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  co_return Result<void>{};
}

namespace {

Task<Result<void>> remove_if_guard_holds(Client client, std::string path, Op guard, Wait wait) {
  for (;;) {
    std::vector<Op> ops;
    ops.push_back(guard);
    ops.push_back(Op::remove(path));
    auto removing = client.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> removed = co_await std::move(removing);
    const bool gone = !removed && (removed.error() == Errc::kNoNode || removed.error() == Errc::kBadVersion);
    if (removed || gone) co_return Result<void>{};
    if (!is_recoverable(removed.error())) co_return std::unexpected(removed.error());
    CO_TRY(pause_before_retry(client, removed.error(), wait));
  }
}

// Removes a node in the background, unless settle() was called.
class GuardedRemoval {
 public:
  GuardedRemoval(Client client, std::string path, Op guard)
      : client_(std::move(client)), path_(std::move(path)), guard_(std::move(guard)) {}
  GuardedRemoval(const GuardedRemoval&) = delete;
  GuardedRemoval& operator=(const GuardedRemoval&) = delete;
  ~GuardedRemoval() {
    if (open_) remove_owned_later(client_, path_, guard_);
  }
  void settle() { open_ = false; }

 private:
  Client client_;
  std::string path_;
  Op guard_;
  bool open_ = true;
};

}  // namespace

Task<Result<void>> remove_owned(Client client, std::string path, std::optional<Op> guard, Wait wait) {
  if (!guard) {
    auto plainly = client.remove_surely(path, {}, wait);
    co_return co_await std::move(plainly);
  }
  GuardedRemoval rest(client, path, *guard);
  auto removing = remove_if_guard_holds(client, path, *guard, wait);
  const Result<void> removed = co_await std::move(removing);
  if (removed || removed.error().error_class() != ErrorClass::kCancelled) rest.settle();
  co_return removed;
}

std::chrono::milliseconds pause_after_conflict(int tries, std::uint64_t& random) {
  constexpr std::int64_t kMaxMs = 200;
  random = random * 6364136223846793005ull + 1442695040888963407ull;
  const std::int64_t most = std::min(kMaxMs, std::int64_t{1} << std::min(tries, 8));
  return std::chrono::milliseconds(static_cast<std::int64_t>(random >> 33) % most);
}

void remove_owned_later(const Client& client, const std::string& path, const std::optional<Op>& guard) {
  if (!guard) return client.ensure_deleted(path);
  start(remove_if_guard_holds(client, path, *guard, Wait{}));
}

namespace {

// Synced: what was sent through a connection that is lost may be known to another server only.
Task<Result<void>> remove_own(Client client, std::string path, std::string word) {
  CO_TRY(until_answered(client, [&] { return client.sync(path, Wait{}); }));
  auto reading = until_answered(client, [&] { return client.get(path, Wait{}); });
  const Result<NodeData> node = co_await std::move(reading);
  if (!node && node.error() == Errc::kNoNode) co_return Result<void>{};
  if (!node) co_return std::unexpected(node.error());
  if (node->data == word) client.ensure_deleted(path, node->stat.czxid);
  co_return Result<void>{};
}

}  // namespace

void remove_if_ours(Client client, std::string path, std::string word) {
  start(remove_own(std::move(client), std::move(path), std::move(word)));
}

}  // namespace drover::recipes
