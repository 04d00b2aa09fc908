// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/barrier.h"

#include "recipes/common/steps.h"

namespace drover::recipes {
namespace {

// The parent's pzxid, that is, the last change of its children. Empty: there never was a child.
Task<Result<std::optional<Zxid>>> last_change_beside(Client client, std::string path, Wait wait) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == 0 ? "/" : path.substr(0, slash);
  CO_TRY_ASSIGN(const std::optional<Stat> stat,
                until_answered(client, [&] { return client.exists(parent, wait); }));
  if (!stat || stat->pzxid == stat->czxid) co_return std::optional<Zxid>();
  co_return std::optional(stat->pzxid);
}

// After a lost reply. True: the barrier does not exist and did not in between; false: it exists.
Task<Result<bool>> was_not_set(Client client, std::string path, std::optional<Zxid> before, Error lost,
                               Wait wait) {
  CO_TRY(until_answered(client, [&] { return client.sync(path, wait); }));
  // The order matters: what is created and removed after the second read was not ours.
  CO_TRY_ASSIGN(const std::optional<Zxid> now, last_change_beside(client, path, wait));
  CO_TRY_ASSIGN(const std::optional<Stat> stat,
                until_answered(client, [&] { return client.exists(path, wait); }));
  if (stat) co_return false;
  if (now != before) {
    lost.detail = "it may have been set, and then removed by another client";
    co_return std::unexpected(lost);
  }
  co_return true;
}

// A retry after a lost reply might set a barrier that another client has removed.
Task<Result<void>> set_barrier(Client client, std::string path, Wait wait) {
  CreateOptions options;
  options.parents = true;
  CO_TRY_ASSIGN(const std::optional<Zxid> before, last_change_beside(client, path, wait));
  for (;;) {
    auto creating = client.create(path, "", options, wait);
    const Result<Created> created = co_await std::move(creating);
    if (created || created.error() == Errc::kNodeExists) co_return Result<void>{};
    const Error& error = created.error();
    if (!is_recoverable(error) && !has_next_session(client, error)) co_return std::unexpected(error);
    CO_TRY(pause_before_retry(client, error, wait));
    if (!error.maybe_applied()) continue;
    CO_TRY_ASSIGN(const bool again, was_not_set(client, path, before, error, wait));
    if (!again) co_return Result<void>{};
  }
}

// A retry after a lost reply might remove the next barrier with the same name.
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
