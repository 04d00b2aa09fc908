// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/rendezvous.h"

#include <optional>
#include <utility>

#include "base/child_path.h"
#include "drover/signal.h"
#include "recipes/common/loop.h"
#include "recipes/common/settle.h"
#include "recipes/common/steps.h"

namespace drover::recipes {
namespace {

Task<Result<std::string>> make_place(Client client, std::string root, RendezvousOptions options, Wait wait) {
  const auto mode = options.ephemeral ? CreateMode::kEphemeral : CreateMode::kPersistent;
  auto creating = client.create_protected(child_path(root, "job"), {}, {.mode = mode, .parents = true}, wait);
  const Result<Created> created = co_await std::move(creating);
  if (!created) co_return std::unexpected(created.error());
  co_return created->path;
}

// After a lost reply the node's data shows who the master is. If another master wrote the same data, it does
// not matter. While the node cannot be read, it is unknown.
Task<Result<void>> find_master(Client client, std::string path, std::string where, Error lost, Wait wait) {
  auto reading = read_now(client, path, wait);
  const Result<std::optional<NodeData>> now = co_await std::move(reading);
  if (!now) co_return std::unexpected(lost);
  if (*now && (*now)->data == where) co_return Result<void>{};
  if (*now && (*now)->data.empty()) co_return std::unexpected(lost);
  if (*now) co_return fail(Errc::kBadVersion, path);
  lost.code = Errc::kNoNode;  // The job is over; whether it had our words before stays unknown.
  co_return std::unexpected(lost);
}

// Version 0 is an empty rendezvous; only a master changes it.
Task<Result<void>> fill_place(Client client, std::string path, std::string where, Wait wait) {
  if (where.empty()) co_return fail(Errc::kBadArguments, path, "the address must not be empty");
  auto setting = set_settled(client, path, where, Version{0}, wait);
  const Result<Stat> set = co_await std::move(setting);
  if (set) co_return Result<void>{};
  const Error& error = set.error();
  if (!error.maybe_applied() || error.error_class() != ErrorClass::kRecoverable) {
    co_return std::unexpected(error);
  }
  auto finding = find_master(client, path, std::move(where), error, wait);
  co_return co_await std::move(finding);
}

// Reads until `enough` returns true; a missing node is kNoNode.
using Enough = bool (*)(const NodeData&);
Task<Result<std::string>> watch_place(Client client, std::string path, Enough enough, Wait wait) {
  auto there = client.scheduler().enter();
  co_await there;
  Signal changed(client.scheduler());
  const Watch watch = changed.watch();
  for (;;) {
    auto reading = client.get(path, watch, wait);
    const Result<NodeData> node = co_await std::move(reading);
    if (node && enough(*node)) co_return node->data;
    const bool again = !node && (node.error().error_class() == ErrorClass::kRecoverable ||
                                 node.error() == Errc::kSessionExpired);
    if (again && client.state() != ConnectionState::kExpired) {
      CO_TRY(pause_before_retry(client, node.error(), wait));
      continue;
    }
    if (!node) co_return std::unexpected(node.error());
    auto waiting = changed.wait(wait);
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return std::unexpected(woken.error());
  }
}

Task<Result<void>> wait_for_end(Task<Result<std::string>> watching) {
  const Result<std::string> seen = co_await std::move(watching);
  if (!seen && seen.error() != Errc::kNoNode) co_return std::unexpected(seen.error());
  co_return Result<void>{};
}

Task<Result<Rendezvous>> at(Client client, Task<Result<std::string>> making) {
  const Result<std::string> path = co_await std::move(making);
  if (!path) co_return std::unexpected(path.error());
  co_return Rendezvous(std::move(client), *path);
}

}  // namespace

Task<Result<Rendezvous>> Rendezvous::create(Client client, std::string root, RendezvousOptions options,
                                            Wait wait) {
  auto making = make_place(client, std::move(root), options, std::move(wait));
  return at(std::move(client), std::move(making));
}

Task<Result<void>> Rendezvous::fill(std::string where, Wait wait) const {
  return fill_place(client_, path_, std::move(where), std::move(wait));
}
Task<Result<std::string>> Rendezvous::meet(Wait wait) const {
  return watch_place(
      client_, path_, [](const NodeData& node) { return !node.data.empty(); }, std::move(wait));
}
Task<Result<void>> Rendezvous::until_over(Wait wait) const {
  return wait_for_end(watch_place(client_, path_, [](const NodeData&) { return false; }, std::move(wait)));
}

}  // namespace drover::recipes
