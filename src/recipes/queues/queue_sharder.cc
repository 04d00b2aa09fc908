// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/queue_sharder.h"

#include <algorithm>

#include "base/child_path.h"
#include "recipes/queues/queue_claim.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kShardPrefix = "queue-";

}  // namespace

struct QueueSharder::State {
  State(Client c, std::string p, QueueSharderOptions o)
      : client(std::move(c)), path(std::move(p)), options(std::move(o)) {
    options.queue.claims.clear();
  }
  using Shared = std::shared_ptr<State>;

  Client client;
  std::string path;
  QueueSharderOptions options;
  std::size_t turn = 0;  // of the next queue

  // Helper nodes are not beside the queues, because Curator would take them for queues.
  SharedConfig queue(std::string_view name, QueueAck ack) const {
    QueueOptions queue_options = options.queue;
    queue_options.ack = ack;
    return fifo_queue(client, child_path(path, name), std::move(queue_options),
                      child_path(path + ".beside", name));
  }

  struct List {
    std::vector<std::string> names;
    Version version{};  // of the directory, which changes with the number of queues
  };
  static Task<Result<List>> list(Shared s, const Watch* watch, Wait wait);
  static Task<Result<void>> add(Shared s, Version version, Wait wait);
  static Task<Result<bool>> find_room(Shared s, std::vector<std::string> names, Wait wait);
  static Task<Result<std::string>> choose_for_put(Shared s, Wait wait);
  static Task<Result<void>> put(Shared s, std::string data, Wait wait);
  static Task<Result<std::optional<QueueItem>>> take_at_once(Shared s, std::vector<std::string> names,
                                                             Wait wait);
  static Task<Result<QueueItem>> take_from_any(Shared s, Wait wait);
  static Task<Result<QueueItem>> take(Shared s, Wait wait);
  static Task<Result<int>> size(Shared s, Wait wait);
  static Task<Result<std::vector<std::string>>> queues(Shared s, Wait wait);
};

Task<Result<QueueSharder::State::List>> QueueSharder::State::list(Shared s, const Watch* watch, Wait wait) {
  for (;;) {
    auto listing = until_answered(s->client, [&] {
      return watch ? s->client.children(s->path, *watch, wait) : s->client.children(s->path, wait);
    });
    Result<Children> children = co_await std::move(listing);
    if (!children && children.error() == Errc::kNoNode) {
      CO_TRY(make_directory(s->client, s->path, wait));
      continue;
    }
    if (!children) co_return std::unexpected(children.error());
    std::erase_if(children->names, [](const std::string& name) { return !name.starts_with(kShardPrefix); });
    std::ranges::sort(children->names);
    co_return List{std::move(children->names), children->stat.version};
  }
}

// Adds a queue if the directory still has this version. A lost reply does not matter: the caller reads the
// list again.
Task<Result<void>> QueueSharder::State::add(Shared s, Version version, Wait wait) {
  std::vector<Op> ops;
  ops.push_back(Op::set(s->path, "", version));
  ops.push_back(Op::create(child_path(s->path, std::string(kShardPrefix) + s->client.new_uuid())));
  auto adding = s->client.multi(std::move(ops), wait);
  const Result<std::vector<OpResult>> added = co_await std::move(adding);
  if (added || added.error() == Errc::kBadVersion || added.error() == Errc::kNoNode) co_return Result<void>{};
  if (!is_recoverable(added.error())) co_return std::unexpected(added.error());
  CO_TRY(pause_before_retry(s->client, added.error(), wait));
  co_return Result<void>{};
}

// The first queue with room, starting with the one whose turn it is.
Task<Result<bool>> QueueSharder::State::find_room(Shared s, std::vector<std::string> names, Wait wait) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string path = child_path(s->path, names[(s->turn + i) % names.size()]);
    CO_TRY_ASSIGN(const std::optional<Stat> stat,
                  until_answered(s->client, [&] { return s->client.exists(path, wait); }));
    if (!stat || stat->num_children >= s->options.threshold) continue;
    s->turn += i;
    co_return true;
  }
  co_return false;
}

Task<Result<std::string>> QueueSharder::State::choose_for_put(Shared s, Wait wait) {
  for (;;) {
    CO_TRY_ASSIGN(const List queues, list(s, nullptr, wait));
    CO_TRY_ASSIGN(const bool found, find_room(s, queues.names, wait));
    const bool may_grow = queues.names.size() < static_cast<std::size_t>(std::max(s->options.queues_max, 1));
    if (found || !may_grow) co_return queues.names[s->turn++ % queues.names.size()];
    CO_TRY(add(s, queues.version, wait));
  }
}

Task<Result<void>> QueueSharder::State::put(Shared s, std::string data, Wait wait) {
  auto there = s->client.scheduler().enter();
  co_await there;
  CO_TRY_ASSIGN(const std::string name, choose_for_put(s, for_steps(s->client, wait)));
  auto putting = put_fifo(s->queue(name, s->options.queue.ack), {std::move(data)}, wait);
  co_return co_await std::move(putting);
}

Task<Result<std::optional<QueueItem>>> QueueSharder::State::take_at_once(Shared s,
                                                                         std::vector<std::string> names,
                                                                         Wait wait) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[s->turn++ % names.size()];
    auto taking = take_item(s->queue(name, QueueAck::kExplicit), Wait{Wait::poll().deadline, wait.stop});
    Result<QueueItem> item = co_await std::move(taking);
    if (item) co_return std::optional(*std::move(item));
    if (item.error() != Errc::kDeadline) co_return std::unexpected(item.error());
  }
  co_return std::optional<QueueItem>();
}

namespace {

Task<Result<QueueItem>> stale_when_changed(Signal& changed, Wait wait) {
  CO_TRY(changed.wait(wait));
  co_return fail(Errc::kStale);
}

}  // namespace

// The first to finish cancels the others, which give back their items.
Task<Result<QueueItem>> QueueSharder::State::take_from_any(Shared s, Wait wait) {
  Signal changed(s->client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    CO_TRY_ASSIGN(const List queues, list(s, &watch, for_steps(s->client, wait)));
    CO_TRY_ASSIGN(std::optional<QueueItem> item, take_at_once(s, queues.names, wait));
    if (item) co_return *std::move(item);
    if (wait.is_poll()) co_return fail(Errc::kDeadline, s->path);
    std::vector<Task<Result<QueueItem>>> takes;
    takes.push_back(stale_when_changed(changed, wait));
    for (const std::string& name : queues.names) {
      takes.push_back(take_item(s->queue(name, QueueAck::kExplicit), wait));
    }
    auto any = when_any(std::move(takes));
    First<Result<QueueItem>> first = co_await std::move(any);
    if (first.value || first.value.error() != Errc::kStale) co_return std::move(first.value);
  }
}

Task<Result<QueueItem>> QueueSharder::State::take(Shared s, Wait wait) {
  auto there = s->client.scheduler().enter();
  co_await there;
  for (;;) {
    CO_TRY_ASSIGN(QueueItem item, take_from_any(s, wait));
    if (s->options.queue.ack == QueueAck::kExplicit) co_return std::move(item);
    auto finishing = QueueClaim::finish(item.claim(), wait);
    const Result<void> finished = co_await std::move(finishing);
    if (finished) co_return std::move(item);
    const bool is_anothers = finished.error() == Errc::kLockLost && !finished.error().maybe_applied();
    if (!is_anothers) co_return std::unexpected(finished.error());
  }
}

Task<Result<int>> QueueSharder::State::size(Shared s, Wait wait) {
  auto there = s->client.scheduler().enter();
  co_await there;
  CO_TRY_ASSIGN(const List queues, list(s, nullptr, wait));
  int count = 0;
  for (const std::string& name : queues.names) {
    CO_TRY_ASSIGN(const int items, count_items(s->queue(name, QueueAck::kExplicit), wait));
    count += items;
  }
  co_return count;
}

Task<Result<std::vector<std::string>>> QueueSharder::State::queues(Shared s, Wait wait) {
  auto there = s->client.scheduler().enter();
  co_await there;
  CO_TRY_ASSIGN(const List queues, list(s, nullptr, wait));
  std::vector<std::string> paths;
  for (const std::string& name : queues.names) paths.push_back(child_path(s->path, name));
  co_return paths;
}

QueueSharder::QueueSharder(Client client, std::string path, QueueSharderOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(path), std::move(options))) {}

Task<Result<void>> QueueSharder::put(std::string data, Wait wait) const {
  return State::put(state_, std::move(data), std::move(wait));
}
Task<Result<QueueItem>> QueueSharder::take(Wait wait) const { return State::take(state_, std::move(wait)); }
Task<Result<int>> QueueSharder::size(Wait wait) const {
  return State::size(state_, for_steps(state_->client, wait));
}
Task<Result<std::vector<std::string>>> QueueSharder::queues(Wait wait) const {
  return State::queues(state_, for_steps(state_->client, wait));
}

}  // namespace drover::recipes
