// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/mutex.h"

#include <algorithm>
#include <utility>

#include "layouts/revocation.h"
#include "recipes/locks/holding.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {
namespace {

LineOptions line_options(const std::string& path, const MutexOptions& options) {
  LineOptions line;
  line.directory = path;
  line.marker = "lock-";
  line.markers = {"lock-"};
  line.data = options.data;
  line.acl = options.acl;
  line.layout = options.layout;
  return line;
}

Task<Result<Guard>> acquire_in(Client client, LineOptions line, HoldOptions hold_options, Wait wait) {
  auto acquiring = acquire_turn(std::move(client), std::move(line), std::move(wait));
  Result<Ticket> ticket = co_await std::move(acquiring);
  if (!ticket) co_return std::unexpected(std::move(ticket).error());
  co_return hold(*std::move(ticket), hold_options);
}

// Waits until the node is gone.
Task<Result<void>> wait_until_gone(Client client, std::string node, Wait wait) {
  Waker waker(client);
  Watch watch;
  for (;;) {
    Watch next = waker.watch();
    auto reading = read_node(client, node, &next, wait);
    const Result<NodeData> found = co_await std::move(reading);
    watch = std::move(next);
    if (!found && found.error() == Errc::kNoNode) co_return Result<void>{};
    if (!found) co_return std::unexpected(found.error());
    auto waiting = waker.wait(wait);
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return woken;
  }
}

Task<Result<void>> revoke_node(Client client, std::string node, std::optional<Clock::duration> force_after,
                               Wait wait) {
  auto there = client.scheduler().enter();
  co_await there;
  Wait patience = wait;
  if (force_after) patience.deadline = std::min(patience.deadline, Clock::now() + *force_after);
  for (;;) {
    auto asking = client.set(node, std::string(layouts::kRevokeWord), Version::kAny, wait);
    const Result<Stat> asked = co_await std::move(asking);
    if (!asked && asked.error() == Errc::kNoNode) co_return Result<void>{};
    if (!asked && is_recoverable(asked.error())) {  // Asking twice does no harm.
      CO_TRY(pause_before_retry(client, asked.error(), wait));
      continue;
    }
    if (!asked) co_return std::unexpected(asked.error());
    break;
  }
  auto waiting = wait_until_gone(client, node, patience);
  const Result<void> gone = co_await std::move(waiting);
  if (gone || !force_after || gone.error() != Errc::kDeadline || wait.is_over()) co_return gone;
  auto removing = client.remove_surely(node, {}, wait);
  co_return co_await std::move(removing);
}

}  // namespace

Mutex::Mutex(Client client, std::string path, MutexOptions options)
    : client_(std::move(client)), path_(std::move(path)), options_(std::move(options)) {}

Task<Result<Guard>> Mutex::acquire(Wait wait) const {
  return acquire_in(client_, line_options(path_, options_), {.watch_node = options_.revocable},
                    std::move(wait));
}

Task<Result<std::vector<std::string>>> Mutex::participants(Wait wait) const {
  return participants_of(client_, line_options(path_, options_), std::move(wait));
}

Task<Result<void>> Mutex::revoke(std::string node, std::optional<Clock::duration> force_after,
                                 Wait wait) const {
  return revoke_node(client_, std::move(node), force_after, std::move(wait));
}

}  // namespace drover::recipes
