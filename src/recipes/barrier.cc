// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/barrier.h"

#include "recipes/steps.h"

namespace drover::recipes {
namespace {

Task<Result<void>> set_barrier(Client client, std::string path, Wait wait) {
  CreateOptions options;
  options.parents = true;
  auto creating = until_answered(client, [=] { return client.create(path, "", options, wait); });
  const Result<Created> created = co_await std::move(creating);
  if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  co_return Result<void>{};
}

// A second try after a lost answer might meet the next barrier of the same name.
Task<Result<void>> remove_barrier(Client client, std::string path, Wait wait) {
  CO_TRY_ASSIGN(const std::optional<Stat> stat,
                until_answered(client, [=] { return client.exists(path, wait); }));
  if (!stat) co_return Result<void>{};
  auto removing = client.remove_surely(path, stat->czxid, wait);
  co_return co_await std::move(removing);
}

Task<Result<void>> wait_at(Client client, std::string path, BarrierTrigger trigger, Wait wait) {
  auto there = client.scheduler().enter();
  co_await there;
  Signal changed(client.scheduler());
  const Watch watch = changed.watch();
  std::optional<Zxid> first;
  for (;;) {
    CO_TRY_ASSIGN(const std::optional<Stat> stat, until_answered(client, [&] {
                    return client.exists(path, watch, for_steps(client, wait));
                  }));
    if (!stat) co_return Result<void>{};
    if (trigger == BarrierTrigger::kEdge && first.value_or(stat->czxid) != stat->czxid) {
      co_return Result<void>{};
    }
    first = stat->czxid;
    CO_TRY(changed.wait(wait));
  }
}

}  // namespace

Task<Result<void>> Barrier::set(Wait wait) const { return set_barrier(client_, path_, std::move(wait)); }
Task<Result<void>> Barrier::remove(Wait wait) const {
  return remove_barrier(client_, path_, std::move(wait));
}
Task<Result<void>> Barrier::wait(Wait wait) const {
  return wait_at(client_, path_, trigger_, std::move(wait));
}

}  // namespace drover::recipes
