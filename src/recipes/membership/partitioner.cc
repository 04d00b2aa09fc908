// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/partitioner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/child_path.h"
#include "base/path.h"
#include "drover/recipes/group.h"
#include "drover/recipes/mutex.h"

namespace drover::recipes {
namespace {

using std::chrono::milliseconds;

// How long to wait for a share before checking the members again: the owner of an item may not have noticed
// yet that it should release it.
constexpr milliseconds kPatience{1000};

std::uint64_t hash_of(std::string_view a, std::string_view b = {}) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  const auto add = [&hash](std::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
    hash = (hash ^ 0xff) * 0x100000001B3ull;
  };
  add(a);
  add(b);
  hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9ull;
  return hash ^ hash >> 31;
}

std::string hash_of_all(const std::vector<std::string>& items) {
  std::uint64_t hash = 0;
  for (const std::string& item : items) hash = hash_of(std::to_string(hash), item);
  return std::to_string(hash);
}

std::vector<std::string> nodes_of(const std::vector<Member>& members) {
  std::vector<std::string> nodes;
  for (const Member& each : members) nodes.push_back(each.node);
  std::ranges::sort(nodes);
  return nodes;
}

}  // namespace

std::vector<std::string> share_of(const std::string& member, const std::vector<std::string>& members,
                                  const std::vector<std::string>& items, bool hashed) {
  std::vector<std::string> share;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string& owner =
        hashed ? *std::ranges::max_element(members, {}, [&](const auto& m) { return hash_of(items[i], m); })
               : members[i % members.size()];
    if (owner == member) share.push_back(items[i]);
  }
  return share;
}

// --- Share ---

// Revokes the share when it is no longer valid. On the executor.
class Share::Watcher {
 public:
  void request_stop() { stop_.request_stop(); }
  std::stop_token token() const { return stop_.get_token(); }
  void follow(const Guard& guard) { losses_.push_back(std::make_unique<Loss>(guard.lost(), Stop{stop_})); }

  Client::Subscription members;

 private:
  struct Stop {
    std::stop_source stop;
    void operator()() { stop.request_stop(); }
  };
  using Loss = std::stop_callback<Stop>;
  std::stop_source stop_;
  std::vector<std::unique_ptr<Loss>> losses_;
};

std::stop_token Share::revoked() const { return watcher_->token(); }

Op Share::check_op(const std::string& item) const {
  const auto found = std::ranges::find(items_, item);
  return guards_.at(static_cast<std::size_t>(found - items_.begin())).check_op();
}

namespace {

// Releases all concurrently. Returns the first error; a lock that was lost before is free as well.
Task<Result<void>> release_all(std::vector<Guard> guards, Wait wait) {
  std::vector<Task<Result<void>>> releases;
  for (Guard& guard : guards) releases.push_back(guard.release(wait));
  auto releasing = when_all(std::move(releases));
  const std::vector<Result<void>> released = co_await std::move(releasing);
  for (const Result<void>& each : released) {
    if (!each && each.error() != Errc::kLockLost) co_return each;
  }
  co_return Result<void>{};
}

}  // namespace

Task<Result<void>> Share::release(Wait wait) {
  watcher_->request_stop();
  return release_all(std::exchange(guards_, {}), std::move(wait));
}

// --- Partitioner ---

class Partitioner::State {
 public:
  State(Client c, std::string p, std::string i, std::vector<std::string> all, PartitionerOptions o)
      : client(std::move(c)),
        path(std::move(p)),
        id(std::move(i)),
        items(std::move(all)),
        options(o),
        group(client, child_path(path, "party"), GroupLayout::kShallowParty) {
    std::ranges::sort(items);
    hash = hash_of_all(items);
  }
  Mutex mutex_of(const std::string& item) const {
    return Mutex(client, child_path(child_path(path, "locks"), item));
  }
  std::string our_node() const { return std::string(base_name(member->node())); }
  // kazoo's members publish no hash.
  bool agrees(const std::vector<Member>& members) const {
    return std::ranges::all_of(members, [&](const Member& m) { return m.data.empty() || m.data == hash; });
  }

  const Client client;
  const std::string path;
  const std::string id;
  std::vector<std::string> items;
  std::string hash;
  const PartitionerOptions options;
  const Group group;
  std::optional<GroupMember> member;
};

Task<Result<void>> Partitioner::join(std::shared_ptr<State> state, Wait wait) {
  auto joining = state->group.join(state->id, state->hash, wait);
  Result<GroupMember> joined = co_await std::move(joining);
  if (!joined) co_return std::unexpected(joined.error());
  state->member.emplace(*std::move(joined));
  auto starting = state->group.start(wait);
  co_return co_await std::move(starting);
}

// Retries until the members have settled, we are among them, and our items are free.
Task<Result<Share>> Partitioner::acquire_share(std::shared_ptr<State> state, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  if (!state->member) co_return fail(Errc::kBadArguments, state->path, "start() comes first");
  for (;;) {
    const std::vector<Member> before = state->group.members();
    const auto settled = Clock::now() + state->options.settle;
    if (settled > wait.deadline) co_return fail(Errc::kDeadline, state->path);
    auto sleeping = state->client.scheduler().sleep(Wait::until(settled, wait.stop));
    const Result<void> slept = co_await std::move(sleeping);
    if (!slept) co_return std::unexpected(slept.error());
    const std::vector<Member> members = state->group.members();
    if (!state->group.is_fresh() || nodes_of(before) != nodes_of(members)) continue;
    if (!state->agrees(members)) {
      co_return fail(Errc::kLayoutMismatch, state->path, "another member has a different set of items");
    }
    const std::vector<std::string> nodes = nodes_of(members);
    if (!std::ranges::binary_search(nodes, state->our_node())) continue;
    auto taking = take(state, nodes, wait);
    Result<Share> share = co_await std::move(taking);
    const bool again = !share && share.error() == Errc::kDeadline && !wait.is_over();
    if (!again) co_return share;
  }
}

Task<Result<Share>> Partitioner::take(std::shared_ptr<State> state, std::vector<std::string> members,
                                      Wait wait) {
  Share share;
  share.items_ = share_of(state->our_node(), members, state->items, state->options.hashed);
  share.watcher_ = std::make_shared<Share::Watcher>();
  const auto patience = std::min(wait.deadline, Clock::now() + kPatience);
  std::vector<Task<Result<Guard>>> acquisitions;
  for (const std::string& item : share.items_) {
    acquisitions.push_back(state->mutex_of(item).acquire(Wait::until(patience, wait.stop)));
  }
  auto acquiring = when_all(std::move(acquisitions));
  std::vector<Result<Guard>> guards = co_await std::move(acquiring);
  for (Result<Guard>& guard : guards) {
    if (!guard) co_return std::unexpected(guard.error());
    share.watcher_->follow(*guard);
    share.guards_.push_back(*std::move(guard));
  }
  // The members may have changed during the acquisition, so they are compared below.
  share.watcher_->members =
      state->group.on_change([members, weak = std::weak_ptr(share.watcher_)](const std::vector<Member>& now) {
        const auto watcher = weak.lock();
        if (watcher && nodes_of(now) != members) watcher->request_stop();
      });
  if (nodes_of(state->group.members()) != members) co_return fail(Errc::kDeadline, state->path);
  co_return share;
}

Partitioner::Partitioner(Client client, std::string path, std::string id, std::vector<std::string> items,
                         PartitionerOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(path), std::move(id), std::move(items),
                                     options)) {}

Task<Result<void>> Partitioner::start(Wait wait) { return join(state_, std::move(wait)); }
Task<Result<Share>> Partitioner::acquire(Wait wait) const { return acquire_share(state_, std::move(wait)); }

}  // namespace drover::recipes
