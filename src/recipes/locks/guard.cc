// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/guard.h"

#include <utility>

#include "layouts/revocation.h"
#include "recipes/common/steps.h"
#include "recipes/locks/holding.h"

namespace drover::recipes {
namespace {

void on_state(Holding& holding, const StateEvent& event) {
  if (is_over(event.state) || event.session != holding.client.bound_session()) {
    holding.lost.request_stop();
    holding.suspect.load()->request_stop();
    if (holding.waker) holding.waker->notify();
  } else if (event.state !=
             ConnectionState::kConnected) {  // A read-only server knows nothing of the present.
    holding.suspect.load()->request_stop();
  } else if (holding.suspect.load()->stop_requested()) {
    holding.suspect.store(std::make_shared<std::stop_source>());
  }
}

// The part of the release that needs the executor.
void forget(const std::shared_ptr<Holding>& holding) {
  holding->client.scheduler().post([holding] {
    holding->states.reset();
    if (holding->waker) holding->waker->notify();
  });
}

// Watches its own node until it is released or lost.
Task<Result<void>> watch_node(std::shared_ptr<Holding> holding) {
  const std::shared_ptr<Waker> waker = holding->waker;
  Watch watch;
  while (!holding->given_back && !holding->lost.stop_requested()) {
    Watch next = waker->watch();
    auto reading = read_node(holding->client, holding->node, &next, Wait{});
    const Result<NodeData> node = co_await std::move(reading);
    watch = std::move(next);
    if (holding->given_back) break;
    if (!node || node->stat.czxid != holding->czxid) {
      holding->lost.request_stop();
      break;
    }
    if (layouts::is_revocation(node->data)) holding->revoked.request_stop();
    auto waiting = waker->wait(Wait{});
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) break;
  }
  co_return Result<void>{};
}

}  // namespace

Guard hold(Ticket ticket, const HoldOptions& options) {
  auto holding = std::make_shared<Holding>(ticket, options.fence);
  ticket.hand_on();
  holding->states = holding->client.on_state([weak = std::weak_ptr(holding)](const StateEvent& event) {
    if (const auto held = weak.lock()) on_state(*held, event);
  });
  if (options.watch_node) {
    holding->waker = std::make_shared<Waker>(holding->client);
    start(watch_node(holding));
  }
  return Guard(std::move(holding));
}

Guard& Guard::operator=(Guard&& other) noexcept {
  if (this != &other) {
    let_go();
    holding_ = std::move(other.holding_);
  }
  return *this;
}

void Guard::let_go() {
  const auto holding = std::exchange(holding_, nullptr);
  if (!holding) return;
  if (!holding->take()) return;
  remove_owned_later(holding->client, holding->node, holding->guard);
  forget(holding);
}

Task<Result<void>> Guard::release(Wait wait) {
  struct Release {
    // The task owns the guard. If the task never runs, the guard is released when it is destroyed.
    static Task<Result<void>> run(Guard guard, Wait until) {
      const auto held = std::exchange(guard.holding_, nullptr);
      const bool was_lost = held->lost.stop_requested();
      if (!held->take()) {  // Other guards still have it.
        if (was_lost) co_return fail(Errc::kLockLost, held->node);
        co_return Result<void>{};
      }
      auto removing = remove_owned(held->client, held->node, held->guard, until);
      Result<void> removed = co_await std::move(removing);
      forget(held);
      const bool gone = !removed && removed.error() == Errc::kSessionExpired;
      if (was_lost || gone) co_return fail(Errc::kLockLost, held->node);
      co_return removed;
    }
    static Task<Result<void>> of_nothing() { co_return fail(Errc::kNotOwner); }
  };
  if (!holding_) return Release::of_nothing();
  return Release::run(Guard(std::exchange(holding_, nullptr)), std::move(wait));
}

bool Guard::is_held() const {
  if (!holding_ || holding_->given_back || holding_->lost.stop_requested()) return false;
  return valid_until() > Clock::now();
}

std::stop_token Guard::lost() const { return holding_ ? holding_->lost.get_token() : std::stop_token{}; }
std::stop_token Guard::suspect() const {
  return holding_ ? holding_->suspect.load()->get_token() : std::stop_token{};
}
std::stop_token Guard::revoked() const {
  return holding_ ? holding_->revoked.get_token() : std::stop_token{};
}

Clock::time_point Guard::valid_until() const {
  constexpr auto kNot = Clock::time_point::min();
  if (!holding_ || holding_->given_back || holding_->lost.stop_requested()) return kNot;
  const Client& client = holding_->client;
  const Clock::time_point until = client.valid_until();
  return client.session() == client.bound_session() ? until : kNot;
}

Zxid Guard::fence() const { return holding_ ? holding_->fence : Zxid{}; }
Op Guard::check_op() const { return holding_ ? holding_->check : Op::check({}); }
const std::string& Guard::node() const {
  static const std::string kNone;
  return holding_ ? holding_->node : kNone;
}
SessionId Guard::session() const { return holding_ ? holding_->client.bound_session() : SessionId{}; }

}  // namespace drover::recipes
