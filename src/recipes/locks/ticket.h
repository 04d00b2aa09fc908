// SPDX-License-Identifier: Apache-2.0
//
// A place in a queue of contenders: taking it, waiting for its turn, and giving it up. The basis of locks,
// elections and turn queues.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drover/client.h"
#include "drover/signal.h"
#include "recipes/common/steps.h"
#include "recipes/locks/line.h"

namespace drover::recipes {

struct LineOptions {
  std::string directory;
  std::string marker;                     // of the own node: "lock-"
  std::vector<std::string_view> markers;  // of all kinds that stand in the line; literals
  Rule rule = behind_everybody;
  std::string data = {};
  std::vector<Acl> acl = {};
  Layout layout = Layout::kCurator;
};

// A node of one session. Destroying a ticket that was not handed on removes the node.
class Ticket {
 public:
  // For a unique name.
  Ticket(Client bound, std::string path, Zxid czxid)
      : client_(std::move(bound)), path_(std::move(path)), czxid_(czxid), check_(Op::check(path_)) {}
  // For a shared name: only `check` shows whether the node is still this ticket's.
  Ticket(Client bound, std::string path, Zxid czxid, Op check)
      : client_(std::move(bound)),
        path_(std::move(path)),
        czxid_(czxid),
        check_(std::move(check)),
        shared_(true) {}
  Ticket(Ticket&& other) noexcept
      : client_(std::move(other.client_)),
        path_(std::move(other.path_)),
        czxid_(other.czxid_),
        check_(std::move(other.check_)),
        shared_(other.shared_),
        open_(std::exchange(other.open_, false)) {}
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (open_) remove_owned_later(client_, path_, guard());
  }

  const Client& client() const { return client_; }  // bound to the session of the node
  const std::string& path() const { return path_; }
  std::string_view name() const { return std::string_view(path_).substr(path_.rfind('/') + 1); }
  Zxid czxid() const { return czxid_; }
  const Op& check() const { return check_; }
  // For a shared name: this must be part of the removal's transaction.
  std::optional<Op> guard() const { return shared_ ? std::optional(check_) : std::nullopt; }
  // Hands the node over to another owner.
  void hand_on() { open_ = false; }

 private:
  Client client_;
  std::string path_;
  Zxid czxid_;
  Op check_;
  bool shared_ = false;
  bool open_ = true;
};

// The place is lost, with its node or its session, and another one can be taken: in this session, or in the
// next one if the client has one.
inline bool can_begin_again(const Client& client, const Error& error) {
  return error == Errc::kLockLost || has_next_session(client, error);
}

// A retry may succeed: another node is in the way, or a permission is missing for now. Not if the caller
// stops, the client has no session, or the call itself is wrong.
inline bool may_stand_again(const Client& client, const Error& error) {
  if (can_begin_again(client, error)) return true;
  const bool wrong_call =
      error == Errc::kBadArguments || error == Errc::kInvalidAcl || error == Errc::kUnimplemented;
  const ErrorClass kind = error.error_class();
  return !wrong_call && (kind == ErrorClass::kState || kind == ErrorClass::kRecoverable);
}

// Wakes a waiter on changes of the tree and of the connection, because changes during a lost connection are
// found by reading again. Create it on the executor, before the first read.
class Waker {
 public:
  explicit Waker(const Client& client);
  Task<Result<void>> wait(Wait wait) { return signal_->wait(std::move(wait)); }
  void notify() { signal_->notify(); }
  Watch watch() const { return signal_->watch(); }

 private:
  std::shared_ptr<Signal> signal_;
  Client::Subscription states_;
};

// Reads that are repeated after lost connections until they are answered.
Task<Result<Children>> read_children(Client client, std::string path, const Watch* watch, Wait wait);
Task<Result<NodeData>> read_node(Client client, std::string path, const Watch* watch, Wait wait);

// Queues at the end, in the current session.
Task<Result<Ticket>> take_ticket(Client client, LineOptions options, Wait wait);
// Waits for its turn. kLockLost: its node is gone. With Wait::poll(): kDeadline if others are first. The
// caller keeps the ticket until then.
Task<Result<void>> wait_for_turn(const Ticket* ticket, LineOptions options, Wait wait);
// Both, and again with a new node if the session or the node is lost meanwhile.
Task<Result<Ticket>> acquire_turn(Client client, LineOptions options, Wait wait);
// The contenders' paths, in order.
Task<Result<std::vector<std::string>>> participants_of(Client client, LineOptions options, Wait wait);

}  // namespace drover::recipes
