// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "base/child_path.h"
#include "drover/recipes/discovery.h"
#include "drover/recipes/persistent_node.h"
#include "recipes/common/loop.h"
#include "recipes/common/settle.h"
#include "recipes/common/steps.h"

namespace drover::discovery {

using recipes::PersistentNode;
using recipes::PersistentNodeOptions;

class Registry::State {
 public:
  State(Client c, std::string b) : client(std::move(c)), base(std::move(b)) {}

  using Key = std::pair<std::string, std::string>;  // name, id

  std::string path_of(const std::string& name, const std::string& id) const {
    return child_path(child_path(base, name), id);
  }
  // The node of an instance that is kept.
  std::shared_ptr<PersistentNode> find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(key);
    return found == nodes_.end() ? nullptr : found->second;
  }
  void keep(const Key& key, std::shared_ptr<PersistentNode> node) {
    const std::lock_guard lock(mutex_);
    nodes_[key] = std::move(node);
  }
  std::shared_ptr<PersistentNode> take(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(key);
    return found == nodes_.end() ? nullptr : nodes_.extract(found).mapped();
  }
  // Unless it was registered again since.
  void forget(const Key& key, const std::shared_ptr<PersistentNode>& node) {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(key);
    if (found != nodes_.end() && found->second == node) nodes_.erase(found);
  }

  static Task<Result<void>> add(std::shared_ptr<State> self, Instance instance, Wait wait);
  static Task<Result<void>> remove(std::shared_ptr<State> self, Key key, Wait wait);

  const Client client;
  const std::string base;

 private:
  static Task<Result<void>> publish(std::shared_ptr<State> self, Instance instance, Wait wait);

  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<PersistentNode>> nodes_;
};

namespace {

CreateMode mode_of(ServiceType type) {
  switch (type) {
    case ServiceType::kDynamic: return CreateMode::kEphemeral;
    case ServiceType::kDynamicSequential: return CreateMode::kEphemeralSequential;
    case ServiceType::kStatic:
    case ServiceType::kPermanent: break;
  }
  return CreateMode::kPersistent;
}

bool is_valid_name(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && name != "." && name != "..";
}

std::int64_t wall_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

// Store the wanted data first, then write it: a retry after a lost connection writes the newest.
Task<Result<void>> Registry::State::add(std::shared_ptr<State> self, Instance instance, Wait wait) {
  if (!is_valid_name(instance.name) || !is_valid_name(instance.id)) {
    co_return fail(Errc::kBadArguments, self->base, "invalid name or id of an instance");
  }
  if (instance.registered_ms == 0) instance.registered_ms = wall_ms();
  if (instance.type == ServiceType::kPermanent) {
    auto publishing = publish(self, std::move(instance), std::move(wait));
    co_return co_await std::move(publishing);
  }
  const Key key{instance.name, instance.id};
  if (const auto known = self->find(key)) {
    known->set_data(to_json(instance));
    auto flushing = known->flush(std::move(wait));
    co_return co_await std::move(flushing);
  }
  const auto node = std::make_shared<PersistentNode>(
      self->client, self->path_of(instance.name, instance.id), to_json(instance),
      PersistentNodeOptions{.mode = mode_of(instance.type),
                            .on_conflict = PersistentNodeOptions::OnConflict::kFail});
  self->keep(key, node);
  auto starting = node->start(std::move(wait));
  const Result<std::string> started = co_await std::move(starting);
  if (started) co_return Result<void>{};
  self->forget(key, node);
  co_return std::unexpected(started.error());
}

// A node that is not kept up to date. A persistent node has no owner and is replaced at the version that was
// read; an ephemeral node belongs to a live process. A create with a lost reply finds its own node.
Task<Result<void>> Registry::State::publish(std::shared_ptr<State> self, Instance instance, Wait wait) {
  const std::string path = self->path_of(instance.name, instance.id);
  const std::string json = to_json(instance);
  for (;;) {
    auto creating = recipes::until_answered(
        self->client, [&] { return self->client.create(path, json, {.parents = true}, wait); });
    const Result<Created> created = co_await std::move(creating);
    if (created) co_return Result<void>{};
    if (created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
    CO_TRY_ASSIGN(const std::optional<NodeData> now, recipes::read_now(self->client, path, wait));
    if (!now) continue;
    if (now->stat.is_ephemeral())
      co_return fail(Errc::kIdConflict, path, "another process has registered it");
    auto setting = recipes::set_settled(self->client, path, json, now->stat.version, wait);
    const Result<Stat> set = co_await std::move(setting);
    if (set) co_return Result<void>{};
    const bool changed = set.error() == Errc::kBadVersion || set.error() == Errc::kNoNode;
    if (!changed) co_return std::unexpected(set.error());
  }
}

// Remove it from the list first, so that no reconnect creates it again.
Task<Result<void>> Registry::State::remove(std::shared_ptr<State> self, Key key, Wait wait) {
  if (const auto node = self->take(key)) {
    auto closing = node->close(std::move(wait));
    co_return co_await std::move(closing);
  }
  const std::string path = self->path_of(key.first, key.second);
  auto looking = self->client.exists(path, wait);
  const Result<std::optional<Stat>> stat = co_await std::move(looking);
  if (!stat) co_return std::unexpected(stat.error());
  if (!*stat) co_return Result<void>{};
  if ((*stat)->is_ephemeral()) co_return fail(Errc::kNotOwner, path, "another process has registered it");
  auto removing = self->client.remove_surely(path, (*stat)->czxid, std::move(wait));
  co_return co_await std::move(removing);
}

namespace {

Task<Result<std::vector<std::string>>> names_below(Client client, std::string path, Wait wait) {
  auto reading = client.children(path, wait);
  Result<Children> children = co_await std::move(reading);
  if (!children && children.error() == Errc::kNoNode) co_return std::vector<std::string>{};
  if (!children) co_return std::unexpected(children.error());
  std::ranges::sort(children->names);
  co_return std::move(children->names);
}

Task<Result<std::vector<Instance>>> instances_of(Client client, std::string path, Wait wait) {
  auto listing = names_below(client, path, wait);
  const Result<std::vector<std::string>> names = co_await std::move(listing);
  if (!names) co_return std::unexpected(names.error());
  std::vector<Task<Result<NodeData>>> reads;
  for (const std::string& name : *names) reads.push_back(client.get(child_path(path, name), wait));
  auto reading = when_all(std::move(reads));
  const std::vector<Result<NodeData>> nodes = co_await std::move(reading);
  std::vector<Instance> all;
  for (const Result<NodeData>& node : nodes) {
    if (!node && node.error() == Errc::kNoNode) continue;
    if (!node) co_return std::unexpected(node.error());
    if (Result<Instance> instance = instance_of(node->data)) all.push_back(*std::move(instance));
  }
  co_return all;
}

}  // namespace

Registry::Registry(Client client, std::string base)
    : state_(std::make_shared<State>(std::move(client), std::move(base))) {}

Task<Result<void>> Registry::add(Instance instance, Wait wait) {
  return State::add(state_, std::move(instance), std::move(wait));
}
Task<Result<void>> Registry::remove(std::string name, std::string id, Wait wait) {
  return State::remove(state_, {std::move(name), std::move(id)}, std::move(wait));
}
bool Registry::is_registered(const std::string& name, const std::string& id) const {
  const auto node = state_->find({name, id});
  return node && node->is_there();
}
Task<Result<std::vector<std::string>>> Registry::services(Wait wait) const {
  return names_below(state_->client, state_->base, std::move(wait));
}
Task<Result<std::vector<Instance>>> Registry::instances(const std::string& name, Wait wait) const {
  return instances_of(state_->client, child_path(state_->base, name), std::move(wait));
}

}  // namespace drover::discovery
