// SPDX-License-Identifier: Apache-2.0
//
// Helpers for the coroutines of all recipes: retries after lost connections, error propagation, and node
// names.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "drover/client.h"
#include "drover/signal.h"

namespace drover::recipes {

// Returns the awaited task's error. Tasks are named before they are awaited, because of GCC 12.
#define CO_TRY(expression)                                                           \
  do {                                                                               \
    auto co_try_task = (expression);                                                 \
    auto co_try_result = co_await std::move(co_try_task);                            \
    if (!co_try_result) co_return std::unexpected(std::move(co_try_result).error()); \
  } while (false)

#define RECIPES_CONCAT_(a, b) a##b
#define RECIPES_CONCAT(a, b) RECIPES_CONCAT_(a, b)
#define CO_TRY_ASSIGN_(declaration, expression, task, result)        \
  auto task = (expression);                                          \
  auto result = co_await std::move(task);                            \
  if (!result) co_return std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)
#define CO_TRY_ASSIGN(declaration, expression)                                    \
  CO_TRY_ASSIGN_(declaration, expression, RECIPES_CONCAT(co_try_task_, __LINE__), \
                 RECIPES_CONCAT(co_try_result_, __LINE__))

inline bool is_recoverable(const Error& error) { return error.error_class() == ErrorClass::kRecoverable; }

// No request of this session can succeed any more.
inline bool is_over(ConnectionState state) {
  return state == ConnectionState::kExpired || state == ConnectionState::kAuthFailed ||
         state == ConnectionState::kClosed;
}

inline bool is_sequential(CreateMode mode) {
  return mode == CreateMode::kPersistentSequential || mode == CreateMode::kEphemeralSequential ||
         mode == CreateMode::kPersistentSequentialTtl;
}
inline bool is_ephemeral(CreateMode mode) {
  return mode == CreateMode::kEphemeral || mode == CreateMode::kEphemeralSequential;
}

// How often a create is retried after its parent was removed.
inline constexpr int kTriesWithParents = 10;

// The session is gone, and this client's next requests use another one.
inline bool has_next_session(const Client& client, const Error& error) {
  return error == Errc::kSessionExpired && client.bound_session() == SessionId{} &&
         client.state() != ConnectionState::kExpired;
}

// The wait for single steps of a call: with Wait::poll() the steps that find out whether waiting is needed
// are still done. They take at most as long as a session survives without servers.
Wait for_steps(const Client& client, const Wait& wait);

// The pause after another client has changed the value first. It is random, so that callers do not collide
// again. `random` is the caller's own state.
std::chrono::milliseconds pause_after_conflict(int tries, std::uint64_t& random);

// While it exists, the signal is in the set, and is notified with all of its signals.
class Waiting {
 public:
  Waiting(std::set<Signal*>& all, Signal& signal) : all_(all), signal_(&signal) { all_.insert(signal_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { all_.erase(signal_); }

 private:
  std::set<Signal*>& all_;
  Signal* signal_;
};

// The pause before a retry, longer each time. For errors that only time or an administrator fixes.
class GrowingPause {
 public:
  std::chrono::milliseconds next() { return std::exchange(pause_, std::min(2 * pause_, kMax)); }
  void reset() { pause_ = kMin; }

 private:
  static constexpr std::chrono::milliseconds kMin{20};
  static constexpr std::chrono::milliseconds kMax{2000};
  std::chrono::milliseconds pause_ = kMin;
};

// Called before a retry after a recoverable error. Without a connection the next try waits by itself. After a
// temporary refusal by a server (kThrottledOp, kNotReadOnly) it waits here, because an immediate retry makes
// it worse.
Task<Result<void>> pause_before_retry(Client client, Error error, Wait wait);

// `make` returns an idempotent task: a read, or a write that recognises its own result. It is repeated until
// a server has answered.
template <class Make>
auto until_answered(Client client, Make make) -> std::invoke_result_t<Make&> {
  for (;;) {
    auto task = make();
    auto result = co_await std::move(task);
    if (result || (!is_recoverable(result.error()) && !has_next_session(client, result.error()))) {
      co_return result;
    }
    auto pausing = pause_before_retry(client, result.error(), Wait{});
    const Result<void> paused = co_await std::move(pausing);
    if (!paused) co_return std::unexpected(paused.error());
  }
}

// The client bound to the session that will hold something.
Task<Result<Client>> bind_to_session(Client client, Wait wait);

// Creates a container, if the server supports it, and its parents. An existing directory is a
// success.
Task<Result<void>> make_directory(Client client, std::string path, Wait wait);

// Removes our node. If others use its name, too, `guard` is an operation that fails if the node is no longer
// ours; it is part of the same transaction, and its failure is a success. If the wait ends early or the task
// is destroyed, the removal continues in the background as long as the session lasts.
Task<Result<void>> remove_owned(Client client, std::string path, std::optional<Op> guard, Wait wait);
void remove_owned_later(const Client& client, const std::string& path, const std::optional<Op>& guard);

// Removes the node in the background, as long as the session lasts, if its data is this word: for a name that
// others use, too, if it is unknown whether ours was created.
void remove_if_ours(Client client, std::string path, std::string word);

// Does so when it is destroyed.
class WordedNode {
 public:
  WordedNode(Client client, std::string path, std::string word)
      : client_(std::move(client)), path_(std::move(path)), word_(std::move(word)) {}
  ~WordedNode() { remove_if_ours(client_, path_, word_); }
  WordedNode(const WordedNode&) = delete;
  WordedNode& operator=(const WordedNode&) = delete;

  const std::string& path() const { return path_; }
  const std::string& word() const { return word_; }

 private:
  Client client_;
  std::string path_;
  std::string word_;
};

// Removes an ephemeral node with a unique name when it is destroyed.
class OwnNode {
 public:
  OwnNode() = default;
  OwnNode(Client client, std::string path) : client_(std::move(client)), path_(std::move(path)) {}
  OwnNode(OwnNode&& other) noexcept
      : client_(std::exchange(other.client_, std::nullopt)), path_(std::move(other.path_)) {}
  OwnNode& operator=(OwnNode&& other) noexcept {
    if (this != &other) {
      remove_later();
      client_ = std::exchange(other.client_, std::nullopt);
      path_ = std::move(other.path_);
    }
    return *this;
  }
  ~OwnNode() { remove_later(); }

  explicit operator bool() const { return client_.has_value(); }
  const std::string& path() const { return path_; }
  const Client& client() const { return *client_; }
  void release() { client_.reset(); }
  void remove_later() {
    if (client_) std::exchange(client_, std::nullopt)->ensure_deleted(path_);
  }

 private:
  std::optional<Client> client_;
  std::string path_;
};

}  // namespace drover::recipes
