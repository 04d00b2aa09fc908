// SPDX-License-Identifier: Apache-2.0
//
// Takes from a queue. A consumer that finds nothing queues in a line. The first of the line watches the
// queue, each other one only its predecessor, so one item wakes one consumer.
#include <algorithm>
#include <set>

#include "base/child_path.h"
#include "layouts/sequence.h"
#include "recipes/queues/queue_config.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kTurn = "turn-";

// Woken by every change that may make an item available.
struct Lookout {
  explicit Lookout(Scheduler scheduler)
      : changed(std::move(scheduler)), items(changed.watch()), claims(changed.watch()) {}
  Signal changed;
  Watch items;
  Watch claims;
};

struct TakeAttempt {
  std::optional<QueueItem> item{};
  std::optional<std::int64_t> due_ms{};  // when to look again, if nothing changes
  std::vector<std::string> missed{};     // what is due and could not be had
};

bool comes_first(const ItemName& a, const ItemName& b) {
  if (a.rank != b.rank) return a.rank < b.rank;
  return layouts::comes_before(a.sequence, b.sequence);
}

// --- the line ---

struct Place {
  std::int32_t sequence = 0;
  std::string name;
};

// Our predecessor; our own name if we are first. Empty: we are not in the line.
Task<Result<std::optional<std::string>>> find_predecessor(Client client, std::string line, std::string own,
                                                          Wait wait) {
  CO_TRY_ASSIGN(const Children children, until_answered(client, [&] { return client.children(line, wait); }));
  std::vector<Place> places;
  for (const std::string& name : children.names) {
    if (const auto sequence = layouts::sequence_of(name, kTurn))
      places.push_back({*sequence, child_path(line, name)});
  }
  std::ranges::sort(
      places, [](const Place& a, const Place& b) { return layouts::comes_before(a.sequence, b.sequence); });
  const auto self = std::ranges::find(places, own, &Place::name);
  if (self == places.end()) co_return std::optional<std::string>();
  co_return std::optional(self == places.begin() ? own : std::prev(self)->name);
}

Task<Result<OwnNode>> wait_for_turn(Client client, std::string line, Wait wait) {
  CreateOptions options;
  options.mode = CreateMode::kEphemeralSequential;
  options.parents = true;
  CO_TRY_ASSIGN(const Created created, client.create_protected(child_path(line, kTurn), "", options, wait));
  OwnNode own(client, created.path);
  Signal changed(client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    CO_TRY_ASSIGN(const std::optional<std::string> before, find_predecessor(client, line, own.path(), wait));
    if (!before) co_return fail(Errc::kNotOwner, own.path(), "this taker's place in the line was removed");
    if (*before == own.path()) co_return std::move(own);
    auto watching = until_answered(client, [&] { return client.get(*before, watch, wait); });
    const Result<NodeData> node = co_await std::move(watching);
    if (!node && node.error() == Errc::kNoNode) continue;
    if (!node) co_return std::unexpected(node.error());
    CO_TRY(changed.wait(wait));
  }
}

// --- looking for an item ---

Task<Result<std::set<std::string>>> list_claims(SharedConfig queue, Client client, Lookout* lookout,
                                                Wait wait) {
  const std::string path = queue->claims_path();
  auto listing = until_answered(client, [&] {
    return lookout ? client.children(path, lookout->claims, wait) : client.children(path, wait);
  });
  const Result<Children> children = co_await std::move(listing);
  if (!children && children.error() == Errc::kNoNode) co_return std::set<std::string>();
  if (!children) co_return std::unexpected(children.error());
  co_return std::set<std::string>(children->names.begin(), children->names.end());
}

// Claims the first free item.
Task<Result<TakeAttempt>> claim_first(SharedConfig queue, Client client, std::vector<ItemName> items,
                                      std::set<std::string> claims, Wait wait) {
  TakeAttempt look;
  for (const ItemName& item : items) {
    if (queue->now_ms && item.rank > queue->now_ms()) {
      look.due_ms = item.rank;  // As are all that follow.
      break;
    }
    look.missed.push_back(item.name);
    if (claims.contains(item.name)) continue;
    CO_TRY_ASSIGN(look.item, claim_item(queue, client, item, wait));
    if (look.item) break;
  }
  co_return std::move(look);
}

// Claims are read when there are items, and watched only when all items are claimed; otherwise our own claim
// would trigger the watch. Only claims that exist when the watch is set will wake us: an item that we missed
// and that is not claimed then was released in between, or is gone.
Task<Result<TakeAttempt>> look_for_item(SharedConfig queue, Client client, Lookout* lookout, Wait wait) {
  std::optional<std::set<std::string>> claims;
  for (;;) {
    CO_TRY_ASSIGN(const std::vector<ItemName> items,
                  list_items(queue, client, lookout ? &lookout->items : nullptr, wait));
    if (items.empty()) co_return TakeAttempt{};
    if (!claims) {
      CO_TRY_ASSIGN(claims, list_claims(queue, client, nullptr, wait));
    }
    CO_TRY_ASSIGN(TakeAttempt look, claim_first(queue, client, items, *claims, wait));
    if (look.item || !lookout) co_return std::move(look);
    CO_TRY_ASSIGN(claims, list_claims(queue, client, lookout, wait));
    const auto is_claimed = [&](const std::string& name) { return claims->contains(name); };
    if (std::ranges::all_of(look.missed, is_claimed)) co_return std::move(look);
  }
}

// Waits until something changes or an item is due.
Task<Result<void>> wait_for_change(SharedConfig queue, Signal& changed, std::optional<std::int64_t> due_ms,
                                   Wait wait) {
  Wait until = wait;
  if (due_ms) {
    const auto left = std::chrono::milliseconds(std::max<std::int64_t>(*due_ms - queue->now_ms(), 1));
    until.deadline = std::min(until.deadline, Clock::now() + left);
  }
  auto waiting = changed.wait(until);
  const Result<void> woken = co_await std::move(waiting);
  if (!woken && woken.error() == Errc::kDeadline && until.deadline != wait.deadline) co_return Result<void>{};
  co_return woken;
}

Task<Result<QueueItem>> take_in_session(SharedConfig queue, Client client, Wait wait) {
  CO_TRY_ASSIGN(TakeAttempt first, look_for_item(queue, client, nullptr, for_steps(client, wait)));
  if (first.item) co_return *std::move(first.item);
  if (wait.is_poll()) co_return fail(Errc::kDeadline, queue->path);

  CO_TRY_ASSIGN(const OwnNode turn, wait_for_turn(client, queue->beside(".turns"), wait));
  Lookout lookout(client.scheduler());
  for (;;) {
    CO_TRY_ASSIGN(TakeAttempt look, look_for_item(queue, client, &lookout, wait));
    if (look.item) co_return *std::move(look.item);
    CO_TRY(wait_for_change(queue, lookout.changed, look.due_ms, wait));
  }
}

}  // namespace

Task<Result<std::vector<ItemName>>> list_items(SharedConfig queue, Client client, const Watch* watch,
                                               Wait wait) {
  std::vector<ItemName> items;
  for (;;) {
    auto listing = until_answered(client, [&] {
      return watch ? client.children(queue->path, *watch, wait) : client.children(queue->path, wait);
    });
    const Result<Children> children = co_await std::move(listing);
    if (!children && children.error() == Errc::kNoNode) {
      if (!watch) co_return items;
      // The container was removed when it was empty. Create it again to watch for the next item.
      CO_TRY_ASSIGN(const std::optional<Stat> stat,
                    until_answered(client, [&] { return client.exists(queue->path, *watch, wait); }));
      if (!stat) co_return items;
      continue;
    }
    if (!children) co_return std::unexpected(children.error());
    for (const std::string& name : children->names) {
      auto item = queue->parse(name);
      if (!item)
        co_return fail(Errc::kLayoutMismatch, queue->item_path(name), "not an item of this kind of queue");
      items.push_back(*std::move(item));
    }
    std::ranges::sort(items, comes_first);
    co_return items;
  }
}

Task<Result<int>> count_items(SharedConfig queue, Wait wait) {
  CO_TRY_ASSIGN(const std::vector<ItemName> items,
                list_items(queue, queue->client, nullptr, for_steps(queue->client, wait)));
  co_return static_cast<int>(items.size());
}

// A waiting consumer owns nothing that ends with a session, so it continues in the next one.
Task<Result<QueueItem>> take_item(SharedConfig queue, Wait wait) {
  auto there = queue->client.scheduler().enter();
  co_await there;
  for (;;) {
    CO_TRY_ASSIGN(const Client client, bind_to_session(queue->client, for_steps(queue->client, wait)));
    auto taking = take_in_session(queue, client, wait);
    Result<QueueItem> item = co_await std::move(taking);
    if (item || !has_next_session(queue->client, item.error())) co_return item;
  }
}

}  // namespace drover::recipes
