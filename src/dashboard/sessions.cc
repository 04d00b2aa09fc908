// SPDX-License-Identifier: Apache-2.0
#include "dashboard/sessions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/path.h"
#include "base/text.h"
#include "dashboard/json.h"
#include "runtime/clock.h"
#include "runtime/ephemerals_walk.h"

namespace drover::server {
namespace {

constexpr std::size_t kSessionPageMax = 500;
constexpr std::size_t kSessionPathsMax = 500;
constexpr std::size_t kSessionEphemeralsMax = 100'000;  // read per session

struct Connected {
  replica::Front::ConnFacts facts;
  std::size_t front = 0;
  std::size_t watches = 0;
};
using ConnectedBySession = std::unordered_map<std::int64_t, Connected>;

// Holding an I/O thread's slot blocks that thread and the core from its front.
template <class Visit>
void for_each_front(const ServerInside& inside, Visit visit) {
  for (std::size_t i = 0; i < inside.fronts.size(); ++i) {
    TreeLock::Reading reading(inside.lock, io_slot(i));
    visit(*inside.fronts[i], i);
  }
}

ConnectedBySession connected(const ServerInside& inside) {
  ConnectedBySession out;
  for_each_front(inside, [&](const replica::Front& front, std::size_t i) {
    front.for_each_connection([&](replica::Front::ConnFacts facts) {
      // A connection that is being closed has no session any more, or will lose it soon.
      if (facts.session == SessionId{0} || !facts.reading) return;
      const std::size_t watches = front.watches().watch_count(facts.watcher);
      out[raw(facts.session)] = {std::move(facts), i, watches};
    });
  });
  return out;
}

struct Clocks {
  Instant now = monotonic_now();
  WallTime wall = wall_now();
  std::int64_t wall_of(Instant t) const { return t.ms == 0 ? 0 : wall.ms - (now - t); }
};

json::object connection_of(const replica::Front::ConnFacts& c, const Clocks& clocks) {
  const double mean =
      c.latency_count == 0 ? 0 : static_cast<double>(c.latency_sum_ms) / static_cast<double>(c.latency_count);
  return {{"remote", c.remote},
          {"opened", clocks.wall_of(c.opened)},
          {"received", c.received},
          {"sent", c.sent},
          {"outstanding", c.queued},
          {"last_operation", c.sent > 0 ? wire::short_name_of(c.last_op) : "NA"},
          {"last_reply", clocks.wall_of(c.last_reply)},
          {"latency_ms", {{"min", c.min_latency_ms}, {"avg", mean}, {"max", c.max_latency_ms}}}};
}

struct Session {
  SessionId id{};
  std::int32_t timeout_ms = 0;
  bool local = false;
};

// Sorted by id as shown.
std::vector<Session> all_sessions(const ServerInside& inside, const ConnectedBySession& here) {
  std::vector<Session> all;
  {
    TreeLock::Reading reading(inside.lock, TreeSlot::kHttp);
    all.reserve(inside.machine.sessions.size());
    for (const auto& [id, timeout_ms] : inside.machine.sessions) all.push_back({id, timeout_ms});
    // Only this server knows its local sessions.
    for (const auto& [id, c] : here) {
      if (!inside.machine.sessions.contains(SessionId{id}))
        all.push_back({SessionId{id}, c.facts.timeout_ms, true});
    }
  }
  std::ranges::sort(all, {}, [](const Session& s) { return static_cast<std::uint64_t>(raw(s.id)); });
  return all;
}

json::object summary_of(const Session& session, const ConnectedBySession& here, const Clocks& clocks) {
  json::object out{
      {"id", hex_text(session.id)}, {"timeout_ms", session.timeout_ms},
      {"local", session.local},     {"server", static_cast<std::uint64_t>(raw(session.id)) >> 56},
      {"connection", nullptr},      {"watches", nullptr}};
  if (const auto found = here.find(raw(session.id)); found != here.end()) {
    out["connection"] = connection_of(found->second.facts, clocks);
    out["watches"] = found->second.watches;
  }
  return out;
}

json::array kinds_of(std::uint8_t data, std::uint8_t child) {
  json::array kinds;
  if (data & state::kStandard) kinds.push_back("data");
  if (child & state::kStandard) kinds.push_back("children");
  if ((data | child) & state::kPersistent) kinds.push_back("persistent");
  if (data & state::kPersistentRecursive) kinds.push_back("recursive");
  return kinds;
}

struct Watching {
  std::string path;
  std::uint8_t data = 0;
  std::uint8_t child = 0;
};

std::vector<Watching> watches_of(const ServerInside& inside, const Connected& c) {
  std::vector<Watching> out;
  TreeLock::Reading reading(inside.lock, io_slot(c.front));
  const replica::Front& front = *inside.fronts[c.front];
  // The connection may be closed meanwhile; then its id is unused or belongs to another connection.
  bool still_there = false;
  front.for_each_connection([&](const replica::Front::ConnFacts& facts) {
    still_there = still_there || (facts.watcher == c.facts.watcher && facts.session == c.facts.session);
  });
  if (!still_there) return out;
  front.watches().for_each_of(c.facts.watcher,
                              [&](std::string_view path, std::uint8_t data, std::uint8_t child) {
                                out.push_back({std::string(path), data, child});
                                return out.size() < kSessionPathsMax;
                              });
  std::ranges::sort(out, {}, &Watching::path);
  return out;
}

void add_ephemerals(const ServerInside& inside, const Asker& asker, SessionId id, json::object& out) {
  const TreeReader reader{inside.machine, inside.lock};
  const state::Tree& tree = inside.machine.tree;
  std::size_t total = 0;
  {
    TreeLock::Reading reading(inside.lock, TreeSlot::kHttp);
    if (const state::NodeSet* owned = tree.ephemerals_of(id)) total = owned->size();
  }
  const std::vector<OwnedNode> nodes = ephemerals_of(reader, std::span(&id, 1), kSessionEphemeralsMax);
  std::vector<std::string> paths;
  visit_in_steps(reader, nodes, [&](std::span<const state::NodeRef> step) {
    for (const state::NodeRef ref : step) {
      if (paths.size() >= kSessionPathsMax) return false;
      // Like may_see(), but without building the path: most nodes may be hidden.
      if (may(inside.machine, tree.at(tree.at(ref).parent), wire::kRead, asker))
        paths.push_back(tree.path_of(ref));
    }
    return true;
  });
  std::ranges::sort(paths);
  const bool truncated =
      paths.size() < total && (paths.size() >= kSessionPathsMax || nodes.size() >= kSessionEphemeralsMax);
  json::array shown;
  for (const std::string& path : paths) shown.push_back(json::object{{"path", valid_text(path)}});
  out["ephemerals"] = std::move(shown);
  out["ephemerals_total"] = total;
  out["ephemerals_truncated"] = truncated;
}

void add_watches(const ServerInside& inside, const Asker& asker, const Connected* c, json::object& out) {
  json::array shown;
  if (c) {
    const std::vector<Watching> watches = watches_of(inside, *c);
    TreeLock::Reading reading(inside.lock, TreeSlot::kHttp);
    for (const Watching& each : watches) {
      if (!may_see(inside, asker, each.path)) continue;
      shown.push_back(
          json::object{{"path", valid_text(each.path)}, {"kinds", kinds_of(each.data, each.child)}});
    }
  }
  out["watches"] = std::move(shown);
  out["watches_total"] = c ? c->watches : 0;
}

}  // namespace

bool may_see(const ServerInside& inside, const Asker& asker, std::string_view path) {
  const state::Tree& tree = inside.machine.tree;
  // If the path does not exist (a watch can wait for it), use its nearest existing parent.
  for (std::string_view above = parent_path(path);; above = parent_path(above)) {
    const state::NodeRef ref = tree.find(above);
    if (ref != state::kNoNode) return may(inside.machine, tree.at(ref), wire::kRead, asker);
    if (above.empty()) return false;
  }
}

std::map<SessionId, std::string> remotes_by_session(const ServerInside& inside) {
  std::map<SessionId, std::string> out;
  for_each_front(inside, [&](const replica::Front& front, std::size_t) {
    front.for_each_connection([&](replica::Front::ConnFacts facts) {
      if (facts.session != SessionId{0}) out[facts.session] = std::move(facts.remote);
    });
  });
  return out;
}

HttpResponse sessions_answer(const ServerInside& inside, const HttpRequest& request) {
  std::int64_t after = 0;
  const bool from_middle = parse_hex(request.parameter("after"), after);
  const std::size_t limit = page_size(request, kSessionPageMax);

  const ConnectedBySession here = connected(inside);
  const std::vector<Session> all = all_sessions(inside, here);
  const auto first =
      !from_middle
          ? all.begin()
          : std::ranges::upper_bound(all, static_cast<std::uint64_t>(after), {},
                                     [](const Session& s) { return static_cast<std::uint64_t>(raw(s.id)); });
  const auto last =
      first + static_cast<std::ptrdiff_t>(std::min(limit, static_cast<std::size_t>(all.end() - first)));
  const Clocks clocks;
  json::array shown;
  for (auto each = first; each != last; ++each) shown.push_back(summary_of(*each, here, clocks));
  {
    TreeLock::Reading reading(inside.lock, TreeSlot::kHttp);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const state::NodeSet* owned =
          inside.machine.tree.ephemerals_of(first[static_cast<std::ptrdiff_t>(i)].id);
      shown[i].as_object()["ephemerals"] = owned ? owned->size() : 0;
    }
  }
  return json_answer({{"total", all.size()},
                      {"here", here.size()},
                      {"now", clocks.wall.ms},
                      {"more", last != all.end()},
                      {"sessions", std::move(shown)}});
}

HttpResponse session_answer(const ServerInside& inside, const Asker& asker, const HttpRequest& request) {
  std::int64_t id = 0;
  if (!parse_hex(request.parameter("id"), id))
    return problem(400, "BadArguments", "This is not a session id.");
  const ConnectedBySession here = connected(inside);
  const auto found = here.find(id);
  const Connected* c = found == here.end() ? nullptr : &found->second;
  Session session{SessionId{id}, c ? c->facts.timeout_ms : 0, true};
  {
    TreeLock::Reading reading(inside.lock, TreeSlot::kHttp);
    const auto known = inside.machine.sessions.find(SessionId{id});
    if (known != inside.machine.sessions.end()) {
      session.timeout_ms = known->second;
      session.local = false;
    } else if (!c) {
      return problem(404, "NoSession", "There is no such session.");
    }
  }
  const Clocks clocks;
  json::object out = summary_of(session, here, clocks);
  out["now"] = clocks.wall.ms;
  add_ephemerals(inside, asker, SessionId{id}, out);
  add_watches(inside, asker, c, out);
  return json_answer(out);
}

}  // namespace drover::server
