// SPDX-License-Identifier: Apache-2.0
//
// Puts into a queue: exactly once, or with maybe_applied().
#include "base/child_path.h"
#include "recipes/queues/queue_config.h"

namespace drover::recipes {
namespace {

// An exact put: the transaction also creates an ephemeral node with a unique name, which shows after a lost
// reply whether it was applied.
struct Putting {
  SharedConfig queue;
  Client client;  // of one session
  std::string prefix;
  std::string data;
  Wait wait;
  OwnNode marker;
  std::string puts_path;  // of a bounded queue: its version counts the puts
  Version puts_version{};
  bool unknown = false;  // an answer was lost

  bool is_bounded() const { return queue->options.items_max > 0; }
};
using SharedPutting = std::shared_ptr<Putting>;

Task<Result<void>> make_node(Client client, std::string path, Wait wait) {
  CreateOptions options;
  options.parents = true;
  auto creating = until_answered(client, [&] { return client.create(path, "", options, wait); });
  const Result<Created> created = co_await std::move(creating);
  if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  co_return Result<void>{};
}

// Every put of a bounded queue changes `puts`. So if its version is unchanged, the number of items read after
// it can only have become smaller.
Task<Result<void>> wait_for_room(SharedPutting p, Wait wait) {
  Signal changed(p->client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    auto reading = until_answered(p->client, [&] { return p->client.get(p->puts_path, p->wait); });
    const Result<NodeData> puts = co_await std::move(reading);
    if (!puts && puts.error() == Errc::kNoNode) {
      CO_TRY(make_node(p->client, p->puts_path, p->wait));
      continue;
    }
    if (!puts) co_return std::unexpected(puts.error());
    p->puts_version = puts->stat.version;
    CO_TRY_ASSIGN(const std::vector<ItemName> items, list_items(p->queue, p->client, &watch, p->wait));
    if (items.size() < static_cast<std::size_t>(p->queue->options.items_max)) co_return Result<void>{};
    CO_TRY(changed.wait(wait));
  }
}

std::vector<Op> ops_of(const Putting& p) {
  std::vector<Op> ops;
  ops.push_back(Op::create(p.marker.path(), "", {.mode = CreateMode::kEphemeral}));
  ops.push_back(
      Op::create(p.queue->item_path(p.prefix), p.data, {.mode = CreateMode::kPersistentSequential}));
  if (p.is_bounded()) ops.push_back(Op::set(p.puts_path, "", p.puts_version));
  return ops;
}

// True: it is in the queue.
Task<Result<bool>> try_to_put(SharedPutting p) {
  auto putting = p->client.multi(ops_of(*p), p->wait);
  const Result<std::vector<OpResult>> put = co_await std::move(putting);
  if (put) co_return true;
  const Error error = put.error();
  if (error.maybe_applied()) p->unknown = true;
  if (is_recoverable(error)) {
    CO_TRY(pause_before_retry(p->client, error, p->wait));
    co_return false;
  }
  // Only the previous try can have created it.
  if (error == Errc::kNodeExists && error.op_index == 0) co_return true;
  if (error == Errc::kBadVersion) co_return false;
  if (error != Errc::kNoNode) co_return std::unexpected(error);
  CO_TRY(make_directory(p->client, p->queue->beside(".done"), p->wait));
  CO_TRY(make_directory(p->client, p->queue->path, p->wait));
  co_return false;
}

Task<Result<void>> put_exactly(SharedConfig queue, std::string prefix, std::string data, Wait wait) {
  CO_TRY_ASSIGN(const Client client, bind_to_session(queue->client, for_steps(queue->client, wait)));
  const std::string uuid = client.new_uuid();
  if (queue->options.layout == QueueLayout::kNative) prefix = "_c_" + uuid + "-" + prefix;
  const auto p =
      std::make_shared<Putting>(Putting{.queue = queue,
                                        .client = client,
                                        .prefix = std::move(prefix),
                                        .data = std::move(data),
                                        .wait = for_steps(queue->client, wait),
                                        .marker = OwnNode(client, child_path(queue->beside(".done"), uuid)),
                                        .puts_path = queue->beside(".puts")});
  for (;;) {
    if (p->is_bounded() && !p->unknown) CO_TRY(wait_for_room(p, wait));
    auto trying = try_to_put(p);
    Result<bool> put = co_await std::move(trying);
    if (!put && p->unknown) put.error().applied = Applied::kMaybe;
    if (!put) co_return std::unexpected(put.error());
    if (*put) co_return Result<void>{};
    if (!p->is_bounded() || !p->unknown) continue;
    // Check for room again, but only if it is certain that the put was not applied: a server that is behind
    // does not know.
    CO_TRY(until_answered(p->client, [&] { return p->client.sync(p->marker.path(), p->wait); }));
    CO_TRY_ASSIGN(const std::optional<Stat> marker,
                  until_answered(p->client, [&] { return p->client.exists(p->marker.path(), p->wait); }));
    if (marker) co_return Result<void>{};
    p->unknown = false;
  }
}

// Retries what was certainly not applied; otherwise the caller gets maybe_applied().
Task<Result<void>> put_plainly(SharedConfig queue, std::string prefix, std::string data, Wait wait) {
  CreateOptions options;
  options.mode = CreateMode::kPersistentSequential;
  options.parents = true;
  const std::string path = queue->item_path(prefix);
  for (;;) {
    auto putting = queue->options.layout == QueueLayout::kNative
                       ? queue->client.create_protected(path, data, options, wait)
                       : queue->client.create(path, data, options, wait);
    const Result<Created> put = co_await std::move(putting);
    if (put) co_return Result<void>{};
    const Error& error = put.error();
    if (!error.is_retryable() && (error.maybe_applied() || !has_next_session(queue->client, error))) {
      co_return std::unexpected(error);
    }
    CO_TRY(pause_before_retry(queue->client, error, wait));
  }
}

}  // namespace

Task<Result<void>> put_item(SharedConfig queue, std::string prefix, std::vector<std::string> values,
                            Wait wait) {
  auto there = queue->client.scheduler().enter();
  co_await there;
  if (values.empty() || (values.size() > 1 && !queue->framed)) {
    co_return fail(Errc::kBadArguments, queue->path, "an item of this queue must have exactly one value");
  }
  std::string data = queue->framed ? frame_values(values) : std::move(values.front());
  const bool exact = queue->options.exact_put && queue->options.layout != QueueLayout::kNative;
  auto putting = exact || queue->options.items_max > 0
                     ? put_exactly(queue, std::move(prefix), std::move(data), std::move(wait))
                     : put_plainly(queue, std::move(prefix), std::move(data), for_steps(queue->client, wait));
  co_return co_await std::move(putting);
}

}  // namespace drover::recipes
