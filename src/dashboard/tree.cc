// SPDX-License-Identifier: Apache-2.0
#include "dashboard/tree.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "base/base64.h"
#include "base/path.h"
#include "base/text.h"
#include "dashboard/json.h"
#include "runtime/clock.h"
#include "state/ephemeral_owner.h"

namespace drover::server {
namespace {

constexpr std::size_t kDataShownMax = 256 * 1024;
constexpr std::size_t kChildPageMax = 1000;
// A step takes a fraction of a millisecond, and the pause between two steps lets a writer in.
constexpr int kNodesPerStep = 2000;
constexpr std::chrono::microseconds kBetweenSteps{20};

std::string_view name_of(state::NodeKind kind) {
  switch (kind) {
    case state::NodeKind::kPersistent: return "persistent";
    case state::NodeKind::kEphemeral: return "ephemeral";
    case state::NodeKind::kContainer: return "container";
    case state::NodeKind::kTtl: return "ttl";
  }
  return "persistent";
}

std::string letters_of(std::int32_t perms) {
  std::string out;
  if (perms & wire::kCreate) out += 'c';
  if (perms & wire::kDelete) out += 'd';
  if (perms & wire::kRead) out += 'r';
  if (perms & wire::kWrite) out += 'w';
  if (perms & wire::kAdmin) out += 'a';
  return out;
}

// The data copied under the tree's lock.
struct NodeCopy {
  wire::Stat stat;
  state::NodeKind kind{};
  state::AclListPtr acl;
  std::optional<std::string> data;
  bool truncated = false;
  bool may_write = false;
  bool may_delete = false;
  bool may_admin = false;
  Zxid zxid{};  // of the tree
};

CodeResult<NodeCopy> copy_node(const ServerInside& inside, const Asker& asker, std::string_view path) {
  TreeLock::Reading reading(inside.lock, TreeSlot::kHttp);
  const state::Machine& machine = inside.machine;
  const state::NodeRef ref = machine.tree.find(path);
  if (ref == state::kNoNode) return std::unexpected(ErrorCode::kNoNode);
  const state::Node& node = machine.tree.at(ref);
  if (!may(machine, node, wire::kRead, asker)) return std::unexpected(ErrorCode::kNoAuth);
  NodeCopy copy;
  copy.zxid = machine.last_zxid;
  copy.stat = machine.tree.stat(node);
  copy.kind = state::kind_of(node.ephemeral_owner, machine.options);
  copy.acl = machine.tree.acl(node);
  if (const wire::Nullable data = node.data()) {
    copy.data.emplace(data->substr(0, kDataShownMax));
    copy.truncated = data->size() > kDataShownMax;
  }
  copy.may_write = may(machine, node, wire::kWrite, asker);
  copy.may_admin = may(machine, node, wire::kAdmin, asker);
  copy.may_delete =
      ref != machine.tree.root() && may(machine, machine.tree.at(node.parent), wire::kDelete, asker);
  return copy;
}

// Password hashes are shown only to users who may change the ACL, as in getACL.
json::array acl_of(const NodeCopy& node) {
  json::array out;
  for (const wire::Acl& entry : node.acl->entries) {
    std::string id = entry.who.id;
    if (const auto colon = id.find(':'); entry.who.scheme == "digest" && colon != id.npos && !node.may_admin)
      id.replace(colon, id.npos, ":x");
    out.push_back(json::object{{"scheme", valid_text(entry.who.scheme)},
                               {"id", valid_text(id)},
                               {"perms", letters_of(entry.perms)}});
  }
  return out;
}

json::object stat_of(const wire::Stat& stat) {
  return {{"czxid", hex_text(stat.czxid)},
          {"mzxid", hex_text(stat.mzxid)},
          {"pzxid", hex_text(stat.pzxid)},
          {"ctime", stat.ctime},
          {"mtime", stat.mtime},
          {"version", stat.version},
          {"cversion", stat.cversion},
          {"aversion", stat.aversion},
          {"dataLength", stat.data_length},
          {"numChildren", stat.num_children},
          {"ephemeralOwner", hex_text(static_cast<std::uint64_t>(stat.ephemeral_owner))}};
}

// Selects the first names in sorted order; they are offered in any order.
//
// Gathers a few thousand names and then keeps only the first ones. Siblings often come in descending order,
// and then a heap would be rebuilt for each.
class FirstNames {
 public:
  explicit FirstNames(const PageBounds& bounds) : bounds_(bounds) {}

  void offer(const state::Node& node, const state::Options& options) {
    const std::string_view name = node.name();
    if (bounds_.exclusive ? name <= bounds_.begin : name < bounds_.begin) return;
    if (!end_.empty() && name >= end_) return;
    gathered_.push_back(
        {.name = std::string(name),
         .children = node.child_count,
         .bytes = static_cast<std::uint32_t>(node.data_bytes()),
         .ephemeral = state::kind_of(node.ephemeral_owner, options) == state::NodeKind::kEphemeral});
    if (gathered_.size() >= 4 * kChildPageMax) keep_first();
  }

  ChildPage take(std::uint32_t total) {
    keep_first();
    std::ranges::sort(gathered_, {}, &ListedChild::name);
    ChildPage page{
        .total = total, .more = gathered_.size() > bounds_.limit, .children = std::move(gathered_)};
    if (page.more) page.children.pop_back();
    return page;
  }

 private:
  // Keeps one more than the limit, to know whether there are more.
  void keep_first() {
    if (gathered_.size() <= bounds_.limit + 1) return;
    const auto last = gathered_.begin() + static_cast<std::ptrdiff_t>(bounds_.limit);
    std::ranges::nth_element(gathered_, last, {}, &ListedChild::name);
    end_ = last->name;
    gathered_.resize(bounds_.limit + 1);
  }

  const PageBounds& bounds_;
  std::vector<ListedChild> gathered_;
  std::string end_;  // names from here on are not needed; empty: unknown yet
};

}  // namespace

HttpResponse node_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request) {
  const std::string_view path = request.parameter("path", "/");
  if (!is_valid_path(path)) return problem(ErrorCode::kBadArguments);
  const CodeResult<NodeCopy> node = copy_node(inside, asker, path);
  if (!node) return problem(node.error());
  json::object out{{"path", valid_text(path)},
                   {"kind", name_of(node->kind)},
                   {"stat", stat_of(node->stat)},
                   {"acl", acl_of(*node)},
                   {"data", nullptr},
                   {"truncated", node->truncated},
                   {"may", {{"write", node->may_write}, {"delete", node->may_delete}}},
                   {"edit", inside.config.admin.dashboard_edit && !asker.scheme.empty()},
                   {"zxid", hex_text(node->zxid)},
                   {"now", wall_now().ms}};
  if (node->data) out["data"] = to_base64(*node->data);
  return json_answer(out);
}

CodeResult<ChildPage> page_of_children(const ServerInside& inside, const Asker& asker, std::string_view path,
                                       const PageBounds& bounds) {
  state::Tree& tree = inside.machine.tree;
  std::optional<TreeLock::Reading> reading(std::in_place, inside.lock, TreeSlot::kHttp);
  const state::NodeRef parent = tree.find(path);
  if (parent == state::kNoNode) return std::unexpected(ErrorCode::kNoNode);
  if (!may(inside.machine, tree.at(parent), wire::kRead, asker)) return std::unexpected(ErrorCode::kNoAuth);
  const std::uint32_t total = tree.at(parent).child_count;
  const Zxid zxid = inside.machine.last_zxid;
  FirstNames first(bounds);
  std::optional<state::Tree::ChildWalk> walk(std::in_place, tree, parent);
  for (;;) {
    for (int i = 0; i < kNodesPerStep && walk->position() != state::kNoNode; ++i) {
      first.offer(tree.at(walk->position()), inside.machine.options);
      walk->advance();
    }
    if (walk->position() == state::kNoNode) break;
    reading.reset();
    // Without a pause this thread would take the lock again before a waiting writer wakes up.
    std::this_thread::sleep_for(kBetweenSteps);
    reading.emplace(inside.lock, TreeSlot::kHttp);
  }
  walk.reset();  // must happen under the lock
  reading.reset();
  ChildPage page = first.take(total);
  page.zxid = zxid;
  return page;
}

HttpResponse children_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request) {
  const std::string_view path = request.parameter("path", "/");
  if (!is_valid_path(path)) return problem(ErrorCode::kBadArguments);
  PageBounds bounds;
  const std::string_view after = request.parameter("after");
  bounds.begin = after.empty() ? request.parameter("from") : after;
  bounds.exclusive = !after.empty();
  bounds.limit = page_size(request, kChildPageMax);
  const CodeResult<ChildPage> page = page_of_children(inside, asker, path, bounds);
  if (!page) return problem(page.error());
  json::array children;
  for (const ListedChild& child : page->children) {
    children.push_back(json::object{{"name", valid_text(child.name)},
                                    {"children", child.children},
                                    {"bytes", child.bytes},
                                    {"ephemeral", child.ephemeral}});
  }
  return json_answer({{"path", valid_text(path)},
                      {"total", page->total},
                      {"more", page->more},
                      {"zxid", hex_text(page->zxid)},
                      {"children", std::move(children)}});
}

}  // namespace drover::server
