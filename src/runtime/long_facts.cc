// SPDX-License-Identifier: Apache-2.0
#include "runtime/long_facts.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace drover::server {
namespace {

constexpr std::size_t kWatchesPerStep = 500;
constexpr std::size_t kRefsPerStep = 20'000;  // stop after this many; one connection can have more

struct Watcher {
  state::WatcherId id{};
  SessionId session{};
};

struct Watch {
  Watcher watcher;
  state::Watches::Ref ref;
};

std::vector<Watcher> watchers_of(const replica::Front& front) {
  std::vector<Watcher> out;
  front.for_each_connection([&](const replica::Front::ConnFacts& facts) {
    if (front.watches().watch_count(facts.watcher) > 0) out.push_back({facts.watcher, facts.session});
  });
  return out;
}

// Reads one front in steps, and takes the lock for each step.
class FrontReader {
 public:
  FrontReader(const replica::Front& front, TreeLock& lock, TreeSlot slot)
      : front_(front), lock_(lock), slot_(slot) {}

  std::vector<Watch> watches() {
    std::vector<Watcher> watchers;
    in_a_step([&] { watchers = watchers_of(front_); });
    std::vector<Watch> out;
    for (std::span<const Watcher> left = watchers; !left.empty();) {
      in_a_step([&] {
        const std::size_t enough = out.size() + kRefsPerStep;
        for (; !left.empty() && out.size() < enough; left = left.subspan(1)) append(left.front(), out);
      });
    }
    return out;
  }

  // Calls visit(Watcher, path) for the watches that still exist.
  template <class Visit>
  void for_each_path(std::span<const Watch> watches, Visit visit) {
    while (!watches.empty()) {
      const auto step = watches.first(std::min(kWatchesPerStep, watches.size()));
      watches = watches.subspan(step.size());
      in_a_step([&] {
        for (const Watch& each : step) {
          if (front_.session_of(each.watcher.id) != each.watcher.session) continue;
          if (const auto path = front_.watches().data_watch(each.watcher.id, each.ref))
            visit(each.watcher, *path);
        }
      });
    }
  }

 private:
  template <class Step>
  void in_a_step(Step step) {
    if (std::exchange(begun_, true)) rest_between_steps();
    TreeLock::Reading reading(lock_, slot_);
    step();
  }

  void append(const Watcher& watcher, std::vector<Watch>& out) {
    if (front_.session_of(watcher.id) != watcher.session) return;
    refs_.clear();
    front_.watches().append_refs(watcher.id, refs_);
    for (const state::Watches::Ref ref : refs_) out.push_back({watcher, ref});
  }

  const replica::Front& front_;
  TreeLock& lock_;
  const TreeSlot slot_;
  std::vector<state::Watches::Ref> refs_;
  bool begun_ = false;
};

// Reserves a list per owner, in the order of the nodes, which are grouped by owner. A list that grows under
// the lock would be copied while others wait.
std::vector<SessionPaths> rooms_for(std::span<const OwnedNode> nodes) {
  std::vector<SessionPaths> out;
  while (!nodes.empty()) {
    const auto next = std::ranges::find_if(
        nodes, [owner = nodes.front().owner](const OwnedNode& each) { return each.owner != owner; });
    const auto count = static_cast<std::size_t>(next - nodes.begin());
    out.push_back({nodes.front().owner, {}});
    out.back().paths.reserve(count);
    nodes = nodes.subspan(count);
  }
  return out;
}

}  // namespace

std::vector<SessionPaths> ephemerals_by_session(const TreeReader& tree) {
  const std::vector<OwnedNode> nodes =
      ephemerals_of(tree, owners_of_ephemerals(tree), std::numeric_limits<std::size_t>::max());
  std::vector<SessionPaths> out = rooms_for(nodes);
  std::size_t at = 0;
  visit_in_steps(tree, nodes, [&](std::span<const state::NodeRef> step) {
    for (const state::NodeRef ref : step) {
      const SessionId owner{tree.machine.tree.at(ref).ephemeral_owner};
      while (out[at].session != owner) ++at;
      out[at].paths.push_back(tree.machine.tree.path_of(ref));
    }
    return true;
  });
  std::erase_if(out, [](const SessionPaths& owned) { return owned.paths.empty(); });
  for (SessionPaths& owned : out) std::ranges::sort(owned.paths);
  return out;
}

void add_watches(const std::vector<const replica::Front*>& fronts, TreeLock& lock, Facts& facts) {
  std::map<std::int64_t, std::vector<std::string>> by_session;
  std::map<std::string, std::vector<SessionId>> by_path;
  for (std::size_t i = 0; i < fronts.size(); ++i) {
    FrontReader reader(*fronts[i], lock, io_slot(i));
    std::vector<std::pair<SessionId, std::string>> found;
    const std::vector<Watch> watches = reader.watches();
    found.reserve(watches.size());
    reader.for_each_path(watches, [&](const Watcher& watcher, std::string_view path) {
      found.emplace_back(watcher.session, path);
    });
    facts.total_watches += static_cast<std::int64_t>(found.size());
    for (auto& [session, path] : found) {
      by_path[path].push_back(session);
      by_session[raw(session)].push_back(std::move(path));
    }
  }
  facts.watching_connections = static_cast<std::int64_t>(by_session.size());
  facts.watched_paths = static_cast<std::int64_t>(by_path.size());
  for (auto& [session, paths] : by_session)
    facts.watches_by_session.push_back({SessionId{session}, std::move(paths)});
  for (auto& [path, sessions] : by_path) facts.watches_by_path.push_back({path, std::move(sessions)});
}

}  // namespace drover::server
