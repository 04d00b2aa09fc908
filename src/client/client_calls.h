// SPDX-License-Identifier: Apache-2.0
//
// Turns methods of Client into calls and calls into results.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/path.h"
#include "client/core.h"
#include "client/requests.h"
#include "drover/client.h"

namespace drover {

// The session is closed when the last handle is destroyed.
struct Client::Handle {
  explicit Handle(std::shared_ptr<client::ClientCore> c, bool closes_session)
      : core(std::move(c)), closes(closes_session) {}
  ~Handle() {
    if (!closes) return;
    core->command([](client::Engine& engine, Instant now) { engine.close(now, client::kFarewellMs); });
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  std::shared_ptr<client::ClientCore> core;
  bool closes;
};

namespace client {

// A request and how often to try it.
template <class T>
struct Plan {
  typename CallOf<T>::Decode decode{};
  wire::OpCode op{};
  Call::Kind kind = Call::Kind::kRequest;
  bool repeatable = false;
  std::string path;       // as the caller wrote it, without chroot
  std::string full_path;  // with chroot
  std::string body;
  std::size_t strip = 0;
  SessionId bound{};
  std::shared_ptr<WatchState> watch;
  WatchSlot slot{};
  std::optional<Error> refused;  // without asking a server

  std::shared_ptr<CallOf<T>> make_call(Instant deadline) const {
    auto call = std::make_shared<CallOf<T>>(decode);
    call->kind = kind;
    call->op = op;
    call->body = body;
    call->path = full_path;
    call->strip = strip;
    call->bound = bound;
    call->deadline = deadline;
    call->watch = watch;
    call->slot = slot;
    return call;
  }
};

inline std::optional<Error> refusal_of_path(const std::string& path, const std::string& full_path) {
  std::string_view reason = path.starts_with('/') ? "" : "Path must start with / character";
  if (reason.empty()) reason = invalid_path_reason(full_path);
  if (reason.empty()) return std::nullopt;
  return Error{Errc::kBadArguments, Applied::kNo, path, std::string(reason)};
}

template <class T>
Task<Result<T>> perform(std::shared_ptr<ClientCore> core, Plan<T> plan, Wait wait) {
  if (plan.refused) co_return std::unexpected(*std::move(plan.refused));
  for (int tries = 1;; ++tries) {
    const std::shared_ptr<CallOf<T>> call = plan.make_call(to_instant(wait.deadline));
    CallAwaiter waiting(core, call, wait.stop);
    co_await waiting;
    Result<T> result = *std::move(call->result);
    if (result) co_return result;
    result.error().path = plan.path;
    if (!plan.repeatable || result.error().error_class() != ErrorClass::kRecoverable) co_return result;
    const auto pause = core->retry().pause_after(tries, core->random());
    if (!pause) co_return result;
    const Clock::time_point next = Clock::now() + *pause;
    if (next >= wait.deadline) co_return result;
    auto sleeping = Scheduler(core).sleep(Wait::until(next, wait.stop));
    Result<void> slept = co_await std::move(sleeping);
    if (!slept) co_return std::unexpected(std::move(slept).error());
  }
}

}  // namespace client

namespace client {
// A client on the given driver.
Client make_client(std::shared_ptr<ClientCore> core, std::string prefix);
}  // namespace client

// Helpers shared by the methods of Client.
struct Client::Calls {
  static const std::shared_ptr<client::ClientCore>& core(const Client& c) { return c.handle_->core; }
  static const std::string& prefix(const Client& c) { return c.prefix_; }
  static Client make(std::shared_ptr<client::ClientCore> core, std::string prefix) {
    return Client(std::make_shared<Handle>(std::move(core), true), std::move(prefix), SessionId{});
  }
  // For background work: it does not keep the session open.
  static Client borrowed(const Client& c) {
    return Client(std::make_shared<Handle>(c.handle_->core, false), c.prefix_, c.bound_);
  }
  static Client bound_to(const Client& c, SessionId session) { return Client(c.handle_, c.prefix_, session); }

  // client_protected.cc
  class Attempt;
  class Removal;
  static Task<Result<Created>> create_protected(Client c, std::string path, std::string data,
                                                CreateOptions options, Wait wait);
  static Task<Result<std::vector<std::string>>> find(Client c, std::string parent, std::string prefix,
                                                     Wait wait);
  static Task<Result<std::optional<Created>>> find_made(Client c, std::string parent, std::string prefix,
                                                        Wait wait);
  static Task<Result<std::optional<Version>>> version_of(Client c, std::string path, Zxid czxid, Wait wait);
  static Task<Result<void>> pause(Client c, Wait wait);
  static Task<Result<void>> before_next_try(Client c, Error error, Wait wait);
  static Task<Result<void>> before_next_session(Client c, Error error, Wait wait);
  static Task<Result<void>> clean_up(Client c, std::string parent, std::string prefix);
  static Task<Result<void>> remove_surely(Client c, std::string path, std::optional<Zxid> czxid, Wait wait);
  static Task<Result<void>> remove_until_gone(Client c, std::string path, std::optional<Zxid> czxid,
                                              Wait wait);

  template <class T>
  static client::Plan<T> plan(const Client& c, wire::OpCode op, std::string path,
                              typename client::CallOf<T>::Decode decode) {
    client::Plan<T> plan;
    plan.decode = decode;
    plan.op = op;
    plan.full_path = client::join_path(c.prefix_, path);
    plan.path = std::move(path);
    plan.strip = c.prefix_.size();
    plan.bound = c.bound_;
    plan.refused = client::refusal_of_path(plan.path, plan.full_path);
    return plan;
  }

  // A read of a node, optionally with a watch.
  template <class T>
  static Task<Result<T>> read(const Client& c, wire::OpCode op, std::string path, const Watch& watch,
                              client::WatchSlot slot, Wait wait, typename client::CallOf<T>::Decode decode) {
    client::Plan<T> p = plan<T>(c, op, std::move(path), decode);
    p.repeatable = true;
    p.body = client::path_watch_body(p.full_path, static_cast<bool>(watch));
    p.watch = armed(c, watch);
    p.slot = slot;
    return client::perform<T>(core(c), std::move(p), std::move(wait));
  }

  static std::shared_ptr<client::WatchState> armed(const Client& c, const Watch& watch) {
    if (watch) watch.state()->core = core(c);
    return watch.state();
  }
};

}  // namespace drover
