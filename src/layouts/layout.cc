// SPDX-License-Identifier: Apache-2.0
#include "layouts/layout.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/number.h"
#include "layouts/directories.h"
#include "layouts/names.h"
#include "layouts/sequence.h"

namespace drover::layouts {
namespace {

// The recipe and library that a shape belongs to. Clients of different ones do not see each other's nodes.
struct Thing {
  Kind kind;
  Family family;
  QueueOrder order = QueueOrder::kFifo;
  friend auto operator<=>(const Thing&, const Thing&) = default;
};

std::optional<Thing> thing_of(Shape shape) {
  switch (shape) {
    case Shape::kLock: return Thing{Kind::kMutex, Family::kCurator};
    case Shape::kRead:
    case Shape::kWrite: return Thing{Kind::kReadWriteLock, Family::kCurator};
    case Shape::kLatch: return Thing{Kind::kElection, Family::kCurator};
    case Shape::kLease: return Thing{Kind::kSemaphore, Family::kCurator};
    case Shape::kTurn: return Thing{Kind::kTurnQueue, Family::kDrover};
    case Shape::kKazooLock: return Thing{Kind::kMutex, Family::kKazoo};
    case Shape::kKazooRead: return Thing{Kind::kReadWriteLock, Family::kKazoo};
    case Shape::kSessionLock: return Thing{Kind::kMutex, Family::kZooKeeper};
    case Shape::kDocumentRead:
    case Shape::kDocumentWrite: return Thing{Kind::kReadWriteLock, Family::kZooKeeper};
    case Shape::kCandidate: return Thing{Kind::kElection, Family::kZooKeeper};
    case Shape::kItem: return Thing{Kind::kQueue, Family::kCurator};
    case Shape::kPriorityItem: return Thing{Kind::kQueue, Family::kCurator, QueueOrder::kPriority};
    case Shape::kDueItem: return Thing{Kind::kQueue, Family::kCurator, QueueOrder::kDelay};
    case Shape::kIdItem: return Thing{Kind::kQueue, Family::kCurator, QueueOrder::kId};
    case Shape::kSimpleItem: return Thing{Kind::kQueue, Family::kZooKeeper};
    case Shape::kNativeItem: return Thing{Kind::kQueue, Family::kDrover};
    case Shape::kEntry: return Thing{Kind::kQueue, Family::kKazoo, QueueOrder::kPriority};
    case Shape::kParty:
    case Shape::kShallowParty: return Thing{Kind::kGroup, Family::kKazoo};
    case Shape::kMember: return Thing{Kind::kGroup, Family::kDrover};
    case Shape::kHex: return Thing{Kind::kSemaphore, Family::kKazoo};
    case Shape::kOther: return std::nullopt;
  }
  return std::nullopt;
}

using Things = std::map<Thing, std::vector<Part>>;

void join(Things& things, const Thing& part, const Thing& whole) {
  auto found = things.extract(part);
  if (found.empty()) return;
  std::vector<Part>& into = things[whole];
  into.insert(into.end(), std::make_move_iterator(found.mapped().begin()),
              std::make_move_iterator(found.mapped().end()));
}

// Merges shapes that belong to one recipe.
void join_related(Things& things) {
  const Thing kazoo_readers{Kind::kReadWriteLock, Family::kKazoo};
  if (things.contains(kazoo_readers)) {
    const Thing writers{Kind::kMutex, Family::kKazoo};
    if (const auto found = things.find(writers); found != things.end()) {
      for (Part& part : found->second) part.role = Role::kWriter;  // kazoo's writers are its locks.
    }
    join(things, writers, kazoo_readers);
  }
  // An id may look like a time. If other names do not, all are ids.
  const Thing ids{Kind::kQueue, Family::kCurator, QueueOrder::kId};
  if (things.contains(ids)) join(things, {Kind::kQueue, Family::kCurator, QueueOrder::kDelay}, ids);
}

std::int64_t rank_of(const Part& part, QueueOrder order) {
  if (order != QueueOrder::kPriority && order != QueueOrder::kDelay) return 0;
  return parse_number<std::int64_t>(part.key).value_or(0);
}

void put_in_order(std::vector<Part>& parts, QueueOrder order) {
  std::stable_sort(parts.begin(), parts.end(), [order](const Part& a, const Part& b) {
    const std::int64_t rank_a = rank_of(a, order), rank_b = rank_of(b, order);
    if (rank_a != rank_b) return rank_a < rank_b;
    if (a.sequence != b.sequence) return comes_before(a.sequence, b.sequence);
    // A writer that downgrades has a reader node with the same number. The writer's node comes first.
    return a.role == Role::kWriter && b.role == Role::kReader;
  });
}

bool take_name(std::vector<std::string>& names, std::string_view name) { return std::erase(names, name) > 0; }

// Recipes whose directory has nodes with fixed names.
void find_fixed(Things& things, std::vector<std::string>& others) {
  const bool has_leases = take_name(others, kLeases);
  const bool has_locks = has_leases && take_name(others, kLocks);
  if (has_leases || has_locks) things[{Kind::kSemaphore, Family::kCurator}];
  if (take_name(others, kLeaseHolder)) things[{Kind::kTimeLease, Family::kKazoo}];
  const bool has_entries = take_name(others, kEntries);
  if (has_entries && (take_name(others, kTaken) || others.empty())) {
    things[{Kind::kQueue, Family::kKazoo, QueueOrder::kPriority}];
  } else if (has_entries) {
    others.emplace_back(kEntries);
  }
}

}  // namespace

Recognition recognise(std::span<const std::string> names) {
  Things things;
  Recognition seen;
  for (const std::string& name : names) {
    ReadName read = read_name(name);
    if (const auto thing = thing_of(read.shape)) {
      things[*thing].push_back(std::move(read.part));
    } else {
      seen.others.push_back(name);
    }
  }
  find_fixed(things, seen.others);
  join_related(things);
  if (things.size() > 1) {
    seen.kind = Kind::kSeveral;
    for (const auto& [thing, parts] : things) {
      seen.things.push_back(std::string(name_of(thing.kind)).append(" (").append(name_of(thing.family)) +
                            ")");
    }
  } else if (things.size() == 1) {
    auto& [thing, parts] = *things.begin();
    seen.kind = thing.kind;
    seen.family = thing.family;
    seen.order = thing.order;
    put_in_order(parts, thing.order);
    seen.parts = std::move(parts);
  }
  std::sort(seen.others.begin(), seen.others.end());
  return seen;
}

bool is_in_queue(std::string_view name) {
  const auto thing = thing_of(read_name(name).shape);
  return name == kEntries || (thing && thing->kind == Kind::kQueue);
}

std::size_t holders_in(Kind kind, std::span<const Part> line) {
  if (line.empty()) return 0;
  if (kind != Kind::kReadWriteLock) return 1;
  // A writer is alone, except for its own reader node during a downgrade, which has the same number.
  const bool writing = line[0].role == Role::kWriter;
  const auto first_waiting = std::find_if(line.begin(), line.end(), [&](const Part& part) {
    return writing ? part.sequence != line[0].sequence : part.role != Role::kReader;
  });
  return static_cast<std::size_t>(first_waiting - line.begin());
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kNothing: return "nothing known";
    case Kind::kSeveral: return "several recipes";
    case Kind::kMutex: return "mutex";
    case Kind::kReadWriteLock: return "read/write lock";
    case Kind::kSemaphore: return "semaphore";
    case Kind::kSimpleLock: return "one-node lock";
    case Kind::kTimeLease: return "time lease";
    case Kind::kTurnQueue: return "turn queue";
    case Kind::kElection: return "election";
    case Kind::kQueue: return "queue";
    case Kind::kGroup: return "group";
  }
  return "";
}

std::string_view name_of(Family family) {
  switch (family) {
    case Family::kCurator: return "Curator, drover";
    case Family::kKazoo: return "kazoo";
    case Family::kZooKeeper: return "ZooKeeper";
    case Family::kDrover: return "drover";
  }
  return "";
}

std::string_view name_of(QueueOrder order) {
  switch (order) {
    case QueueOrder::kFifo: return "fifo";
    case QueueOrder::kPriority: return "priority";
    case QueueOrder::kDelay: return "delay";
    case QueueOrder::kId: return "id";
  }
  return "";
}

}  // namespace drover::layouts
