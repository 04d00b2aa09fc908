// SPDX-License-Identifier: Apache-2.0
//
// What every recipe's coroutines have in common: going on through lost connections, handing an error up, and
// names of nodes.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "drover/client.h"
#include "recipes/paths.h"

namespace drover::recipes {

// The awaited task's error is ours too. Tasks are named before they are awaited: GCC 12.
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

// The session is gone, and what this client is asked next is asked of another one.
inline bool has_next_session(const Client& client, const Error& error) {
  return error == Errc::kSessionExpired && client.bound_session() == SessionId{} &&
         client.state() != ConnectionState::kExpired;
}

// For the steps of a call: whoever does not want to wait for others still wants to know whether he must. That
// takes no longer than a session can be without its servers.
Wait for_steps(const Client& client, const Wait& wait);

// The pause before the next try, longer each time. For errors that only time or an administrator cures.
class GrowingPause {
 public:
  std::chrono::milliseconds next() { return std::exchange(pause_, std::min(2 * pause_, kMax)); }
  void reset() { pause_ = kMin; }

 private:
  static constexpr std::chrono::milliseconds kMin{20};
  static constexpr std::chrono::milliseconds kMax{2000};
  std::chrono::milliseconds pause_ = kMin;
};

// Before something is tried again that failed with a recoverable error. Without a connection the next try
// waits by itself. What a server refuses for now (kThrottledOp, kNotReadOnly) takes a while, and whoever asks
// again at once makes it worse.
Task<Result<void>> pause_before_retry(Client client, Error error, Wait wait);

// `make` gives a task whose repetition does no harm: a read, or a write that finds its own traces. It is
// repeated until a server has answered.
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

// The client for the one session in which something is to be held.
Task<Result<Client>> bind_to_session(Client client, Wait wait);

// A directory that goes some time after its last child, where the server knows such; with its parents. That
// it is there is success.
Task<Result<void>> make_directory(Client client, std::string path, Wait wait);

// Removes a node of ours. Where others use its name too, `guard` is an operation that fails once the node is
// no longer ours; it is part of the same transaction, and its failure is success. When the wait ends early or
// the task is destroyed, the removal goes on in the background for as long as the client's session lasts.
Task<Result<void>> remove_owned(Client client, std::string path, std::optional<Op> guard, Wait wait);
void remove_owned_later(const Client& client, const std::string& path, const std::optional<Op>& guard);

// Removes the node, in the background and as long as the session lasts, if it has this word for data: of a
// name that others use too, where it may be unknown whether ours was made.
void remove_if_ours(Client client, std::string path, std::string word);

// Does so when it is forgotten.
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

// Removes an ephemeral of this session when it is forgotten. Its name is nobody else's.
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
