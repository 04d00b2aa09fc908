// SPDX-License-Identifier: Apache-2.0
#include "dashboard/recipes.h"

#include <algorithm>
#include <deque>
#include <set>

#include "base/child_path.h"
#include "base/path.h"
#include "base/text.h"
#include "dashboard/json.h"
#include "dashboard/sessions.h"
#include "layouts/layout.h"
#include "layouts/recipe.h"
#include "runtime/clock.h"
#include "runtime/ephemerals_walk.h"
#include "state/ephemeral_owner.h"

namespace drover::server {
namespace {

using layouts::kBesideDirectory;
using layouts::kInnerDirectories;
using layouts::Recipe;
using layouts::RecipeDirectory;
using layouts::RecipeEntry;
using layouts::RecipeNode;

constexpr std::size_t kEphemeralsMax = 200'000;  // searched for their parents
constexpr std::size_t kCandidatesMax = 2'000;    // directories that can be recipes
constexpr std::size_t kSearchedMax = 2'000;      // directories searched for queues
constexpr std::size_t kSampleMax = 64;           // of their children
constexpr std::size_t kRecipesMax = 200;         // shown
constexpr std::size_t kChildrenMax = 2'000;      // of one directory, the oldest
constexpr std::size_t kEntriesMax = 100;         // shown of one recipe
constexpr std::size_t kDataMax = 160;

class Search {
 public:
  Search(const ServerInside& inside, const Asker& asker, std::string_view below)
      : inside_(inside), asker_(asker), below_(below) {}

  // Directories that can be recipes, sorted.
  std::set<std::string> run() {
    {
      // The requested path itself is always shown, however many others there are.
      TreeLock::Reading reading(inside_.lock, TreeSlot::kHttp);
      keep(whole_of(below_));
    }
    collect_parents_of_ephemerals();
    collect_queues();
    return std::move(found_);
  }
  bool truncated() const { return truncated_; }

 private:
  void collect_parents_of_ephemerals() {
    const TreeReader reader{inside_.machine, inside_.lock};
    const std::vector<OwnedNode> nodes = ephemerals_of(reader, owners_of_ephemerals(reader), kEphemeralsMax);
    truncated_ = truncated_ || nodes.size() >= kEphemeralsMax;
    visit_in_steps(reader, nodes, [&](std::span<const state::NodeRef> step) {
      add_parents(step);
      return true;
    });
  }

  // The caller holds the tree's lock for reading.
  void add_parents(std::span<const state::NodeRef> nodes) {
    const state::Tree& tree = inside_.machine.tree;
    state::NodeSet parents;
    for (const state::NodeRef ref : nodes) parents.insert(tree.at(ref).parent);
    for (const state::NodeRef ref : parents) {
      if (may(inside_.machine, tree.at(ref), wire::kRead, asker_)) add(tree.path_of(ref));
    }
  }

  // The directory of the whole recipe: for a semaphore's leases it is the semaphore, and so on.
  std::string whole_of(std::string path) const {
    if (path.ends_with(kBesideDirectory)) {
      const std::string beside = path.substr(0, path.size() - kBesideDirectory.size());
      if (inside_.machine.tree.find(beside) != state::kNoNode) path = beside;
    }
    const std::string_view name = base_name(path);
    const bool is_part = std::ranges::find(kInnerDirectories, name) != std::end(kInnerDirectories);
    if (is_part) {
      const std::string parent(parent_path(path));
      if (has_child(parent, layouts::kLeases) || has_child(parent, layouts::kTaken)) path = parent;
    }
    return path;
  }
  void add(std::string path) {
    path = whole_of(std::move(path));
    if (is_within(path, below_)) keep(std::move(path));
  }
  // Keeps the first ones in sorted order, so that the result does not depend on the order of the search.
  void keep(std::string path) {
    found_.insert(std::move(path));
    if (found_.size() <= kCandidatesMax) return;
    found_.erase(std::prev(found_.end()));
    truncated_ = true;
  }
  bool has_child(std::string_view parent, std::string_view name) const {
    return inside_.machine.tree.find(child_path(parent, name)) != state::kNoNode;
  }

  void collect_queues() {
    std::deque<std::string> todo{below_};
    for (std::size_t looked_at = 0; !todo.empty(); ++looked_at) {
      if (looked_at >= kSearchedMax) {
        truncated_ = true;
        return;
      }
      const std::string path = std::move(todo.front());
      todo.pop_front();
      look_at(path, todo);
    }
  }

  void look_at(const std::string& path, std::deque<std::string>& todo) {
    TreeLock::Reading reading(inside_.lock, TreeSlot::kHttp);
    const state::Tree& tree = inside_.machine.tree;
    const state::Node* node = tree.get(path);
    if (!node || path == kZooKeeperPath || !may(inside_.machine, *node, wire::kRead, asker_)) return;
    std::size_t seen = 0;
    bool items = false;
    for (state::NodeRef ref = node->first_child; ref != state::kNoNode && seen < kSampleMax; ++seen) {
      const state::Node& child = tree.at(ref);
      const std::string_view name = child.name();
      items = items || layouts::is_in_queue(name);
      if (child.child_count > 0) todo.push_back(child_path(path, name));
      ref = child.next_sibling;
    }
    if (items) add(path);
  }

  const ServerInside& inside_;
  const Asker& asker_;
  std::string below_;
  std::set<std::string> found_;
  bool truncated_ = false;
};

// If there are too many children, keeps the oldest: they are at the head of every queue. Siblings have no
// reliable order.
class FirstMade {
 public:
  struct Child {
    Zxid czxid{};
    std::string name;
  };

  void offer(const state::Node& node) {
    if (bound_ && node.czxid > *bound_) return;
    gathered_.push_back({node.czxid, std::string(node.name())});
    if (gathered_.size() >= 4 * kChildrenMax) keep_first();
  }
  std::vector<Child> take() {
    keep_first();
    return std::move(gathered_);
  }

 private:
  void keep_first() {
    if (gathered_.size() <= kChildrenMax) return;
    const auto last = gathered_.begin() + kChildrenMax - 1;
    std::ranges::nth_element(gathered_, last, {}, &Child::czxid);
    bound_ = last->czxid;
    gathered_.resize(kChildrenMax);
  }

  std::vector<Child> gathered_;
  std::optional<Zxid> bound_;
};

// Copies nodes out of the locked tree.
class Loader {
 public:
  Loader(const ServerInside& inside, const Asker& asker) : inside_(inside), asker_(asker) {}

  std::optional<RecipeDirectory> load(const std::string& path) {
    reading_.emplace(inside_.lock, TreeSlot::kHttp);
    const auto directory = load_locked(path);
    reading_.reset();
    return directory;
  }

 private:
  std::optional<RecipeDirectory> load_locked(const std::string& path) {
    const state::Node* node = readable(path);
    if (!node) return std::nullopt;
    RecipeDirectory directory;
    directory.data = beginning_of(*node);
    directory.children = children_of(path, directory.unseen[""]);
    for (const std::string_view name : kInnerDirectories) {
      const std::string part = child_path(path, name);
      if (readable(part))
        directory.inner.emplace(name, children_of(part, directory.unseen[std::string(name)]));
    }
    const std::string beside = path + std::string(kBesideDirectory);
    if (readable(beside))
      directory.inner.emplace(kBesideDirectory,
                              children_of(beside, directory.unseen[std::string(kBesideDirectory)]));
    return directory;
  }

  const state::Tree& tree() const { return inside_.machine.tree; }
  const state::Node* readable(const std::string& path) const {
    const state::Node* node = tree().get(path);
    return node && may(inside_.machine, *node, wire::kRead, asker_) ? node : nullptr;
  }
  std::string beginning_of(const state::Node& node) const {
    return std::string(node.data().value_or("").substr(0, kDataMax));
  }

  std::vector<RecipeNode> children_of(const std::string& path, std::size_t& unseen) {
    std::vector<RecipeNode> out;
    const state::NodeRef parent = tree().find(path);
    if (parent == state::kNoNode) return out;
    const std::size_t total = tree().at(parent).child_count;
    unseen = total > kChildrenMax ? total - kChildrenMax : 0;
    for (const FirstMade::Child& child : first_children(parent)) {
      // The node may be deleted while the lock was released, and another node may have its name.
      const state::Node* node = tree().get(child_path(path, child.name));
      if (node && node->czxid == child.czxid) out.push_back(copy_of(*node));
    }
    return out;
  }
  // Releases the lock from time to time if there are many.
  std::vector<FirstMade::Child> first_children(state::NodeRef parent) {
    FirstMade first;
    std::optional<state::Tree::ChildWalk> walk(std::in_place, inside_.machine.tree, parent);
    for (;;) {
      for (std::size_t i = 0; i < kChildrenMax && walk->position() != state::kNoNode; ++i) {
        first.offer(tree().at(walk->position()));
        walk->advance();
      }
      if (walk->position() == state::kNoNode) break;
      reading_.reset();
      rest_between_steps();
      reading_.emplace(inside_.lock, TreeSlot::kHttp);
    }
    walk.reset();  // must happen under the lock
    return first.take();
  }
  RecipeNode copy_of(const state::Node& node) const {
    const bool ephemeral =
        state::kind_of(node.ephemeral_owner, inside_.machine.options) == state::NodeKind::kEphemeral;
    const bool shown = may(inside_.machine, node, wire::kRead, asker_);
    return {std::string(node.name()), ephemeral ? node.ephemeral_owner : 0, node.ctime, raw(node.czxid),
            shown ? beginning_of(node) : std::string()};
  }

  const ServerInside& inside_;
  const Asker& asker_;
  std::optional<TreeLock::Reading> reading_;
};

// Shows data that is text, but no serialised objects.
std::string shown_data(const std::string& data) {
  const bool is_text = std::ranges::all_of(data, [](char c) { return static_cast<unsigned char>(c) >= ' '; });
  return is_text ? data : std::string();
}

json::array entries_of(const std::vector<RecipeEntry>& entries, const std::string& path,
                       const std::map<SessionId, std::string>& remotes) {
  json::array out;
  for (const RecipeEntry& entry : entries) {
    if (out.size() >= kEntriesMax) break;
    const std::string directory = entry.directory.empty()               ? path
                                  : entry.directory == kBesideDirectory ? path + entry.directory
                                                                        : child_path(path, entry.directory);
    json::object shown{{"name", valid_text(entry.node.name)},
                       {"path", valid_text(child_path(directory, entry.node.name))},
                       {"since", entry.node.ctime},
                       {"data", valid_text(shown_data(entry.node.data))},
                       {"mode", nullptr},
                       {"session", nullptr},
                       {"remote", nullptr}};
    if (!entry.mode.empty()) shown["mode"] = entry.mode;
    if (entry.node.owner != 0) {
      shown["session"] = hex_text(static_cast<std::uint64_t>(entry.node.owner));
      const auto remote = remotes.find(SessionId{entry.node.owner});
      if (remote != remotes.end()) shown["remote"] = remote->second;
    }
    out.push_back(std::move(shown));
  }
  return out;
}

json::object shown(const Recipe& recipe, const std::string& path,
                   const std::map<SessionId, std::string>& remotes) {
  json::object out{{"path", valid_text(path)},
                   {"kind", name_of(recipe.kind)},
                   {"layout", recipe.layout},
                   {"capacity", nullptr},
                   {"holders", entries_of(recipe.holders, path, remotes)},
                   {"holders_total", recipe.holders.size() + recipe.holders_unseen},
                   {"waiting", entries_of(recipe.waiting, path, remotes)},
                   {"waiting_total", recipe.waiting.size() + recipe.waiting_unseen}};
  if (recipe.capacity) out["capacity"] = *recipe.capacity;
  return out;
}

ErrorCode readable(const ServerInside& inside, const Asker& asker, std::string_view path) {
  TreeLock::Reading reading(inside.lock, TreeSlot::kHttp);
  const state::Node* node = inside.machine.tree.get(path);
  if (!node) return ErrorCode::kNoNode;
  return may(inside.machine, *node, wire::kRead, asker) ? ErrorCode::kOk : ErrorCode::kNoAuth;
}

}  // namespace

HttpResponse recipes_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request) {
  const std::string_view path = request.parameter("path", "/");
  if (!is_valid_path(path)) return problem(ErrorCode::kBadArguments);
  if (const ErrorCode error = readable(inside, asker, path); error != ErrorCode::kOk) return problem(error);
  Search search(inside, asker, path);
  const std::set<std::string> candidates = search.run();
  bool truncated = search.truncated();
  const auto remotes = remotes_by_session(inside);
  Loader loader(inside, asker);
  json::array recipes;
  for (const std::string& candidate : candidates) {
    if (recipes.size() >= kRecipesMax) {
      truncated = true;
      break;
    }
    const auto directory = loader.load(candidate);
    if (!directory) continue;
    if (const auto recipe = recognise_recipe(*directory))
      recipes.push_back(shown(*recipe, candidate, remotes));
  }
  return json_answer({{"path", valid_text(path)},
                      {"now", wall_now().ms},
                      {"truncated", truncated},
                      {"recipes", std::move(recipes)}});
}

}  // namespace drover::server
