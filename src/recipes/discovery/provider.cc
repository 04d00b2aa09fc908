// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>
#include <utility>

#include "base/child_path.h"
#include "drover/recipes/discovery.h"
#include "drover/recipes/tree_cache.h"
#include "recipes/common/loop.h"

namespace drover::discovery {

using recipes::TreeCache;
using recipes::TreeEvent;

class Provider::State {
 public:
  State(Client client, std::string path, ProviderOptions options)
      : cache(std::move(client), path, {.filter = instances_below(path)}),
        balancer_(options.pick, std::move(options.balancer)) {}

  static std::function<bool(std::string_view)> instances_below(const std::string& root) {
    return [root](std::string_view path) { return parent_or_root(path) == root; };
  }

  // Malformed instances are skipped.
  void take(const TreeEvent& event) {
    if (event.path.empty()) return;
    const std::lock_guard lock(mutex_);
    instances_.erase(event.path);
    if (event.kind == TreeEvent::Kind::kDeleted) return;
    Result<Instance> instance = instance_of(event.node.data);
    if (instance && instance->enabled) instances_.emplace(event.path, *std::move(instance));
  }

  std::optional<Instance> choose(std::string_view key) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> ids;
    std::vector<const Instance*> all;
    for (const auto& [path, instance] : instances_) {
      ids.push_back(instance.id);
      all.push_back(&instance);
    }
    const auto chosen = balancer_.choose(ids, key);
    if (!chosen) return std::nullopt;
    return *all[*chosen];
  }
  std::vector<Instance> instances() const {
    const std::lock_guard lock(mutex_);
    std::vector<Instance> all;
    for (const auto& [path, instance] : instances_) all.push_back(instance);
    return all;
  }
  template <class Work>
  void with_balancer(Work work) {
    const std::lock_guard lock(mutex_);
    work(balancer_);
  }

  TreeCache cache;
  Client::Subscription listening;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Instance> instances_;  // by path
  Balancer balancer_;
};

Provider::Provider(Client client, std::string base, std::string service, ProviderOptions options)
    : state_(std::make_shared<State>(std::move(client), child_path(base, service), std::move(options))) {
  state_->listening = state_->cache.on_event([weak = std::weak_ptr<State>(state_)](const TreeEvent& event) {
    if (const auto state = weak.lock()) state->take(event);
  });
}

Task<Result<void>> Provider::start(Wait wait) { return state_->cache.start(std::move(wait)); }
std::optional<Instance> Provider::choose(std::string_view key) { return state_->choose(key); }
std::vector<Instance> Provider::instances() const { return state_->instances(); }
void Provider::note_error(const Instance& instance) {
  state_->with_balancer([&](Balancer& balancer) { balancer.note_error(instance.id); });
}
void Provider::begin(const Instance& instance) {
  state_->with_balancer([&](Balancer& balancer) { balancer.begin(instance.id); });
}
void Provider::end(const Instance& instance) {
  state_->with_balancer([&](Balancer& balancer) { balancer.end(instance.id); });
}
Clock::duration Provider::staleness() const { return state_->cache.staleness(); }

}  // namespace drover::discovery
