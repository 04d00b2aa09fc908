// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/name_service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/child_path.h"
#include "base/path.h"
#include "drover/recipes/settled.h"
#include "recipes/common/loop.h"
#include "recipes/common/settle.h"
#include "recipes/common/steps.h"

namespace drover::recipes {
namespace {

CreateOptions create_options(const BindOptions& options, bool sequential = false) {
  CreateOptions out{.mode = CreateMode::kPersistent, .acl = options.acl, .ttl = options.ttl, .parents = true};
  if (options.ephemeral) {
    out.mode = sequential ? CreateMode::kEphemeralSequential : CreateMode::kEphemeral;
  } else if (options.ttl.count() > 0) {
    out.mode = sequential ? CreateMode::kPersistentSequentialTtl : CreateMode::kPersistentTtl;
  } else if (sequential) {
    out.mode = CreateMode::kPersistentSequential;
  }
  return out;
}

Task<Result<Stat>> bind_settled(Client client, std::string path, std::string value, BindOptions options,
                                Wait wait) {
  for (;;) {
    auto creating = client.create(path, value, create_options(options), wait);
    const Result<Created> created = co_await std::move(creating);
    if (created) co_return created->stat;
    if (!is_recoverable(created.error())) co_return std::unexpected(created.error());
    CO_TRY(pause_before_retry(client, created.error(), wait));
    if (!created.error().maybe_applied()) continue;
    const SessionId session = client.session();
    auto reading = read_now(client, path, wait);
    const Result<std::optional<NodeData>> now = co_await std::move(reading);
    if (!now) co_return std::unexpected(created.error());
    if (!*now) continue;  // It was not done, or is gone again.
    const NodeData& node = **now;
    const bool ours = options.ephemeral ? node.stat.ephemeral_owner == session
                                        : node.stat.version == Version{0} && node.data == value;
    if (ours) co_return node.stat;
    co_return fail(Errc::kNodeExists, path);
  }
}

Task<Result<std::string>> bind_sequential(Client client, std::string path, std::string value,
                                          BindOptions options, Wait wait) {
  auto creating = client.create_protected(path, value, create_options(options, true), wait);
  const Result<Created> created = co_await std::move(creating);
  if (!created) co_return std::unexpected(created.error());
  co_return std::string(base_name(created->path));
}

Task<Result<std::vector<std::string>>> sorted_names(Client client, std::string root, Wait wait) {
  auto reading = client.children(root, wait);
  Result<Children> children = co_await std::move(reading);
  if (!children && children.error() == Errc::kNoNode) co_return std::vector<std::string>{};
  if (!children) co_return std::unexpected(children.error());
  std::ranges::sort(children->names);
  co_return std::move(children->names);
}

// The version ensures that it is still the value that was read.
Task<Result<void>> move_node(Client client, std::string from, std::string to, Wait wait) {
  for (;;) {
    auto reading = client.get(from, wait);
    const Result<NodeData> node = co_await std::move(reading);
    if (!node) co_return std::unexpected(node.error());
    std::vector<Op> ops;
    ops.push_back(Op::create(to, node->data, create_options({.ephemeral = node->stat.is_ephemeral()})));
    ops.push_back(Op::remove(from, node->stat.version));
    auto moving = client.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> moved = co_await std::move(moving);
    if (moved) co_return Result<void>{};
    if (moved.error() == Errc::kBadVersion) continue;
    if (!moved.error().is_retryable()) co_return std::unexpected(moved.error());
    CO_TRY(pause_before_retry(client, moved.error(), wait));
  }
}

}  // namespace

std::string NameService::path_of(const std::string& name) const { return child_path(root_, name); }

Task<Result<Stat>> NameService::bind(std::string name, std::string value, BindOptions options,
                                     Wait wait) const {
  return bind_settled(client_, path_of(name), std::move(value), std::move(options), std::move(wait));
}
Task<Result<std::string>> NameService::bind_unique(std::string prefix, std::string value, BindOptions options,
                                                   Wait wait) const {
  return bind_sequential(client_, path_of(prefix), std::move(value), std::move(options), std::move(wait));
}
Task<Result<Stat>> NameService::rebind(std::string name, std::string value, Version expected,
                                       Wait wait) const {
  return set_settled(client_, path_of(name), std::move(value), expected, std::move(wait));
}
Task<Result<void>> NameService::unbind(std::string name, std::optional<Zxid> czxid, Wait wait) const {
  return client_.remove_surely(path_of(name), czxid, std::move(wait));
}
Task<Result<NodeData>> NameService::resolve(std::string name, Wait wait) const {
  return client_.get(path_of(name), std::move(wait));
}
Task<Result<NodeData>> NameService::resolve(std::string name, const Watch& watch, Wait wait) const {
  return client_.get(path_of(name), watch, std::move(wait));
}
Task<Result<std::vector<std::string>>> NameService::names(Wait wait) const {
  return sorted_names(client_, root_, std::move(wait));
}
Task<Result<void>> NameService::rename(std::string from, std::string to, Wait wait) const {
  return move_node(client_, path_of(from), path_of(to), std::move(wait));
}

}  // namespace drover::recipes
