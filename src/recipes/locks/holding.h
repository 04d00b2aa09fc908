// SPDX-License-Identifier: Apache-2.0
//
// The state behind a Guard: a node, its session, and what happened to them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "drover/client.h"
#include "drover/recipes/guard.h"
#include "drover/signal.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {

struct Holding {
  Holding(const Ticket& ticket, std::optional<Zxid> given_fence)
      : client(ticket.client()),
        node(ticket.path()),
        czxid(ticket.czxid()),
        guard(ticket.guard()),
        fence(given_fence.value_or(ticket.czxid())),
        check(ticket.check()),
        session(client.hold_session()) {}

  // Safe to use from any thread.
  const Client client;  // bound to the session
  const std::string node;
  const Zxid czxid;               // of the node
  const std::optional<Op> guard;  // part of its removal
  const Zxid fence;
  const Op check;
  const Client::Subscription session;  // only replies that prove a quorum count
  std::stop_source lost;
  std::stop_source revoked;
  std::atomic<int> guards{1};
  std::atomic<bool> given_back{false};
  std::atomic<std::shared_ptr<std::stop_source>> suspect{std::make_shared<std::stop_source>()};

  // Used only on the executor.
  Client::Subscription states;
  std::shared_ptr<Waker> waker;  // wakes the task that watches the node

  // Adds a guard; false: the last one is already gone.
  bool share() {
    int now = guards.load();
    while (now > 0 && !guards.compare_exchange_weak(now, now + 1)) {
    }
    return now > 0;
  }
  // Removes a guard. The last one releases the node.
  bool take() { return guards.fetch_sub(1) == 1 && !given_back.exchange(true); }
};

struct HoldOptions {
  bool watch_node = false;         // one read more, and then its being deleted or revoked is noticed
  std::optional<Zxid> fence = {};  // if it is not that of the node
};

// Hands the node to a guard. On the executor.
Guard hold(Ticket ticket, const HoldOptions& options = {});

}  // namespace drover::recipes
