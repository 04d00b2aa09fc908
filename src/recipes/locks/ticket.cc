// SPDX-License-Identifier: Apache-2.0
#include "recipes/locks/ticket.h"

#include <algorithm>
#include <memory>

#include "base/child_path.h"

namespace drover::recipes {
namespace {

// A container may be taken away between its making and the first child, but not again and again.

// The path that the ticket waits for; none: it holds the lock.
Result<std::optional<std::string>> standing_of(const Ticket& ticket, const LineOptions& options,
                                               const std::vector<std::string>& names) {
  auto line = line_of(names, options.markers, ticket.name(), options.layout);
  if (!line) {
    line.error().path = options.directory;
    return std::unexpected(std::move(line).error());
  }
  const auto own = position_of(*line, ticket.name());
  if (!own) return fail(Errc::kLockLost, ticket.path());
  const auto ahead = options.rule(*line, *own);
  if (!ahead) return std::optional<std::string>{};
  return std::optional(child_path(options.directory, (*line)[*ahead].name));
}

}  // namespace

Waker::Waker(const Client& client) : signal_(std::make_shared<Signal>(client.scheduler())) {
  auto first = std::make_shared<bool>(true);
  states_ = client.on_state([weak = std::weak_ptr(signal_), first](const StateEvent& event) {
    // The first word is the state as it is, which the look that follows knows as well.
    if (std::exchange(*first, false) || event.state == ConnectionState::kSuspended) return;
    if (const auto signal = weak.lock()) signal->notify();
  });
}

Task<Result<Children>> read_children(Client client, std::string path, const Watch* watch, Wait wait) {
  for (;;) {
    auto reading = watch ? client.children(path, *watch, wait) : client.children(path, wait);
    Result<Children> children = co_await std::move(reading);
    if (children || !is_recoverable(children.error())) co_return children;
    CO_TRY(pause_before_retry(client, children.error(), wait));
  }
}

Task<Result<NodeData>> read_node(Client client, std::string path, const Watch* watch, Wait wait) {
  for (;;) {
    auto reading = watch ? client.get(path, *watch, wait) : client.get(path, wait);
    Result<NodeData> node = co_await std::move(reading);
    if (node || !is_recoverable(node.error())) co_return node;
    CO_TRY(pause_before_retry(client, node.error(), wait));
  }
}

Task<Result<Ticket>> take_ticket(Client client, LineOptions options, Wait wait) {
  auto there = client.scheduler().enter();
  co_await there;
  const CreateOptions mode{.mode = CreateMode::kEphemeralSequential, .acl = options.acl, .parents = true};
  const std::string path = child_path(options.directory, options.marker);
  for (int tries = 1;; ++tries) {
    auto creating = client.create_protected(path, options.data, mode, wait);
    Result<Created> created = co_await std::move(creating);
    if (!created && created.error() == Errc::kNoNode && tries < kTriesWithParents) continue;
    if (!created) co_return std::unexpected(std::move(created).error());
    Client bound = client.bound_session() != SessionId{} ? client : client.bound();
    // Another session has begun since: the node goes with the one that made it.
    if (bound.bound_session() != created->stat.ephemeral_owner)
      co_return fail(Errc::kSessionExpired, created->path);
    co_return Ticket(std::move(bound), std::move(created->path), created->stat.czxid);
  }
}

Task<Result<void>> wait_for_turn(const Ticket* ticket, LineOptions options, Wait wait) {
  const Client& client = ticket->client();
  const Wait steps = for_steps(client, wait);
  Waker waker(client);
  Watch watch;
  for (;;) {
    auto listing = read_children(client, options.directory, nullptr, steps);
    const Result<Children> children = co_await std::move(listing);
    if (!children && children.error() == Errc::kNoNode) co_return fail(Errc::kLockLost, ticket->path());
    if (!children) co_return std::unexpected(children.error());
    const auto ahead = standing_of(*ticket, options, children->names);
    if (!ahead) co_return std::unexpected(ahead.error());
    if (!*ahead) co_return Result<void>{};
    if (wait.is_poll()) co_return fail(Errc::kDeadline, ticket->path());

    Watch next = waker.watch();  // Set before the old one goes, so that no removal is sent to the server.
    auto looking = read_node(client, **ahead, &next, steps);
    const Result<NodeData> node = co_await std::move(looking);
    watch = std::move(next);
    if (!node && node.error() == Errc::kNoNode) continue;
    if (!node) co_return std::unexpected(node.error());
    auto waiting = waker.wait(wait);
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return woken;
  }
}

Task<Result<Ticket>> acquire_turn(Client client, LineOptions options, Wait wait) {
  auto there = client.scheduler().enter();
  co_await there;
  for (;;) {
    auto taking = take_ticket(client, options, for_steps(client, wait));
    Result<Ticket> ticket = co_await std::move(taking);
    std::optional<Error> why;
    if (ticket) {
      auto turn = wait_for_turn(&*ticket, options, wait);
      Result<void> reached = co_await std::move(turn);
      if (reached) co_return ticket;
      why = std::move(reached).error();
    } else {
      why = std::move(ticket).error();
    }
    if (!can_begin_again(client, *why) || wait.is_over()) co_return std::unexpected(*std::move(why));
  }
}

Task<Result<std::vector<std::string>>> participants_of(Client client, LineOptions options, Wait wait) {
  auto listing = read_children(client, options.directory, nullptr, wait);
  const Result<Children> children = co_await std::move(listing);
  std::vector<std::string> paths;
  if (!children && children.error() == Errc::kNoNode) co_return paths;
  if (!children) co_return std::unexpected(children.error());
  const auto line = line_of(children->names, options.markers, {}, options.layout);
  if (!line) co_return std::unexpected(line.error());
  for (const Contender& each : *line) paths.push_back(child_path(options.directory, each.name));
  co_return paths;
}

}  // namespace drover::recipes
