// SPDX-License-Identifier: Apache-2.0
//
// A place in a line: taking one, waiting until it is one's turn, and giving it up. What locks, elections and
// turn queues are made of.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drover/client.h"
#include "drover/signal.h"
#include "recipes/line.h"
#include "recipes/steps.h"

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

// A node of one session. Whoever has a ticket and does not hand it on leaves no node behind.
class Ticket {
 public:
  // A name that nobody else uses.
  Ticket(Client bound, std::string path, Zxid czxid)
      : client_(std::move(bound)), path_(std::move(path)), czxid_(czxid), check_(Op::check(path_)) {}
  // A name that others use too: only `check` tells whether the node is still this ticket's.
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
  // For a name that others use too: the removal must be one transaction with this.
  std::optional<Op> guard() const { return shared_ ? std::optional(check_) : std::nullopt; }
  // The node is somebody else's business now.
  void hand_on() { open_ = false; }

 private:
  Client client_;
  std::string path_;
  Zxid czxid_;
  Op check_;
  bool shared_ = false;
  bool open_ = true;
};

// The place is lost, with its node or with its session, and another one can be taken: in this session, or in
// the next one if this client has one.
inline bool can_begin_again(const Client& client, const Error& error) {
  return error == Errc::kLockLost || has_next_session(client, error);
}

// Another try may succeed where this one failed: somebody's node is in the way, a permission is missing for
// now. Not when the caller stops, when the client has no session to try in, or when the call itself is wrong.
inline bool may_stand_again(const Client& client, const Error& error) {
  if (can_begin_again(client, error)) return true;
  const bool wrong_call =
      error == Errc::kBadArguments || error == Errc::kInvalidAcl || error == Errc::kUnimplemented;
  const ErrorClass kind = error.error_class();
  return !wrong_call && (kind == ErrorClass::kState || kind == ErrorClass::kRecoverable);
}

// Wakes whoever waits for a change of the tree on each change of the connection too: what was missed
// meanwhile is found by looking again. To be made on the executor, before the first look.
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

// Reads that are repeated through lost connections until they have an answer.
Task<Result<Children>> read_children(Client client, std::string path, const Watch* watch, Wait wait);
Task<Result<NodeData>> read_node(Client client, std::string path, const Watch* watch, Wait wait);

// At the end of the line, in the present session.
Task<Result<Ticket>> take_ticket(Client client, LineOptions options, Wait wait);
// Until it is its turn. kLockLost: its node is not there any more. Polls: kDeadline when others are first.
// The ticket is kept by the caller until then.
Task<Result<void>> wait_for_turn(const Ticket* ticket, LineOptions options, Wait wait);
// Both, and again with a new node when the session or the node is lost on the way.
Task<Result<Ticket>> acquire_turn(Client client, LineOptions options, Wait wait);
// Who stands in the line, first to last: paths.
Task<Result<std::vector<std::string>>> participants_of(Client client, LineOptions options, Wait wait);

}  // namespace drover::recipes
