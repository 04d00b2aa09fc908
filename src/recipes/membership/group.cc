// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/group.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/child_path.h"
#include "drover/recipes/tree_cache.h"
#include "drover/signal.h"
#include "recipes/common/loop.h"
#include "recipes/common/token.h"

namespace drover::recipes {
namespace {

constexpr std::string_view kPartySuffix = "__party__";
constexpr std::size_t kTokenLength = 32;

// Empty if the name is not of this layout.
std::optional<Member> member_of(GroupLayout layout, const std::string& name, const NodeData& node) {
  switch (layout) {
    case GroupLayout::kCurator: return Member{name, node.data, name, node.stat.czxid};
    case GroupLayout::kParty:
      if (!name.ends_with(kPartySuffix)) return std::nullopt;
      return Member{node.data, {}, name, node.stat.czxid};
    case GroupLayout::kShallowParty:
      if (name.size() <= kTokenLength || name[kTokenLength] != '-') return std::nullopt;
      return Member{name.substr(kTokenLength + 1), node.data, name, node.stat.czxid};
  }
  return std::nullopt;
}

bool is_valid_name(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && name != "." && name != "..";
}

}  // namespace

class Group::State {
 public:
  State(Client c, std::string p, GroupLayout l)
      : client(std::move(c)), path(std::move(p)), layout(l), cache(client, path, {.filter = direct(path)}) {}

  // Members have no children; nodes below them are ignored.
  static std::function<bool(std::string_view)> direct(const std::string& root) {
    return [root](std::string_view node) { return parent_or_root(node) == root; };
  }

  std::vector<Member> members() const {
    std::vector<Member> all;
    for (const std::string& name : cache.children(path)) {
      const std::optional<NodeData> node = cache.find(child_path(path, name));
      if (!node) continue;
      if (auto member = member_of(layout, name, *node)) all.push_back(*std::move(member));
    }
    std::ranges::sort(all, {}, [](const Member& each) { return std::pair(each.id, each.node); });
    return all;
  }

  const Client client;
  const std::string path;
  const GroupLayout layout;
  TreeCache cache;
};

namespace {

Task<Result<GroupMember>> refused(std::string path, std::string why) {
  co_return fail(Errc::kBadArguments, std::move(path), std::move(why));
}

}  // namespace

Group::Group(Client client, std::string path, GroupLayout layout)
    : state_(std::make_shared<State>(std::move(client), std::move(path), layout)) {}

// The names of kazoo's layouts are made here, on the executor.
Task<Result<GroupMember>> Group::join(std::shared_ptr<State> state, std::string name, std::string data,
                                      PersistentNodeOptions options, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  if (state->layout == GroupLayout::kParty) {
    data = std::exchange(name, new_token(state->client) + std::string(kPartySuffix));
  } else if (state->layout == GroupLayout::kShallowParty) {
    name = new_token(state->client) + "-" + name;
  }
  PersistentNode node(state->client, child_path(state->path, name), std::move(data), std::move(options));
  auto starting = node.start(std::move(wait));
  const Result<std::string> path = co_await std::move(starting);
  if (!path) co_return std::unexpected(path.error());
  co_return GroupMember(std::move(node));
}

Task<Result<GroupMember>> Group::join(std::string id, std::string data, Wait wait,
                                      OnConflict on_conflict) const {
  if (!is_valid_name(id)) return refused(state_->path, "invalid id of a member");
  return join(state_, std::move(id), std::move(data), {.on_conflict = on_conflict}, std::move(wait));
}

Task<Result<GroupMember>> Group::join_unnamed(std::string data, Wait wait) const {
  if (state_->layout != GroupLayout::kCurator)
    return refused(state_->path, "members of a kazoo party need an id");
  return join(state_, "m-", std::move(data), {.mode = CreateMode::kEphemeralSequential}, std::move(wait));
}

Task<Result<void>> Group::start(Wait wait) const { return state_->cache.start(std::move(wait)); }

Task<Result<std::vector<Member>>> Group::until(Condition condition, Wait wait) const {
  return until(state_, std::move(condition), std::move(wait));
}

Task<Result<std::vector<Member>>> Group::until(std::shared_ptr<State> state, Condition condition, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  auto changed = std::make_shared<Signal>(state->client.scheduler());
  const auto listening = state->cache.on_event([changed](const TreeEvent&) { changed->notify(); });
  auto starting = state->cache.start(wait);
  const Result<void> begun = co_await std::move(starting);
  if (!begun) co_return std::unexpected(begun.error());
  for (;;) {
    std::vector<Member> all = state->members();
    if (condition(all)) co_return all;
    auto waiting = changed->wait(wait);
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return std::unexpected(woken.error());
  }
}

std::vector<Member> Group::members() const { return state_->members(); }
bool Group::is_fresh() const { return state_->cache.is_fresh(); }

Client::Subscription Group::on_change(std::function<void(const std::vector<Member>&)> callback) const {
  auto last = std::make_shared<std::vector<Member>>();
  return state_->cache.on_event([weak = std::weak_ptr<State>(state_), callback = std::move(callback),
                                 last = std::move(last)](const TreeEvent&) {
    const auto state = weak.lock();
    if (!state) return;
    std::vector<Member> now = state->members();
    if (now == *last) return;
    *last = std::move(now);
    callback(*last);
  });
}

}  // namespace drover::recipes
