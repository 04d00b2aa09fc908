// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/id_queue.h"

#include "recipes/common/steps.h"
#include "recipes/queues/queue_config.h"

namespace drover::recipes {
namespace {

// Creates and removes a claim in the transaction, which fails if there is one.
Task<Result<bool>> remove_unclaimed(SharedConfig queue, std::string name, Wait wait) {
  const std::string claim = queue->claim_path(name);
  const CreateOptions ephemeral{.mode = CreateMode::kEphemeral};
  for (bool unknown = false;;) {
    std::vector<Op> ops;
    ops.push_back(Op::create(claim, "", ephemeral));
    ops.push_back(Op::remove(claim));
    ops.push_back(Op::remove(queue->item_path(name)));
    auto removing = queue->client.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> removed = co_await std::move(removing);
    if (removed) co_return true;
    Error error = removed.error();
    unknown = unknown || error.maybe_applied();
    if (is_recoverable(error)) {
      CO_TRY(pause_before_retry(queue->client, error, wait));
      continue;
    }
    if (error == Errc::kNodeExists) co_return false;
    if (error == Errc::kNoNode && error.op_index == 2) co_return unknown;  // It was us, as far as we know.
    if (error != Errc::kNoNode) {
      if (unknown) error.applied = Applied::kMaybe;
      co_return std::unexpected(error);
    }
    CO_TRY(make_directory(queue->client, queue->claims_path(), wait));
  }
}

Task<Result<int>> remove_all(SharedConfig queue, std::string id, Wait wait) {
  auto there = queue->client.scheduler().enter();
  co_await there;
  // Sync, so that puts acknowledged elsewhere are found.
  CO_TRY(until_answered(queue->client, [&] { return queue->client.sync(queue->path, wait); }));
  CO_TRY_ASSIGN(const std::vector<ItemName> items, list_items(queue, queue->client, nullptr, wait));
  int count = 0;
  for (const ItemName& item : items) {
    if (item.id != clean_id(id)) continue;
    CO_TRY_ASSIGN(const bool removed, remove_unclaimed(queue, item.name, wait));
    if (removed) ++count;
  }
  co_return count;
}

}  // namespace

IdQueue::IdQueue(Client client, std::string path, QueueOptions options)
    : config_(keyed_queue(std::move(client), std::move(path), std::move(options), parse_id_name)) {}

Task<Result<void>> IdQueue::put(std::string data, std::string id, Wait wait) const {
  return put_item(config_, id_prefix(id), {std::move(data)}, std::move(wait));
}
Task<Result<QueueItem>> IdQueue::take(Wait wait) const { return take_item(config_, std::move(wait)); }
Task<Result<int>> IdQueue::remove(std::string id, Wait wait) const {
  return remove_all(config_, std::move(id), for_steps(config_->client, wait));
}
Task<Result<int>> IdQueue::size(Wait wait) const { return count_items(config_, std::move(wait)); }

std::string IdQueue::id_of(const QueueItem& item) {
  const auto name = parse_id_name(item.name());
  return name ? name->id : std::string();
}

}  // namespace drover::recipes
