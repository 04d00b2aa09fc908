// SPDX-License-Identifier: Apache-2.0
//
// Recognises which recipe a directory belongs to, by the names of its nodes:
//
//   _c_<uuid>-lock-0000000007       Curator's mutex, and ours
//   _c_<uuid>-__WRIT__0000000007    the writer of a read/write lock
//   _c_<uuid>-latch-0000000007      a candidate of a leader latch
//   a3f1…__lock__0000000007         kazoo's lock; its reader has __rlock__
//   x-<session>-0000000007          ZooKeeper's lock
//   locks/, leases/                 a semaphore
//   queue-0000000007                an item of a queue
//
// A pure function of names. `drover locks` uses it on what a client sees, the dashboard on what its server
// has. Both read the nodes themselves to find out who holds what.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drover::layouts {

enum class Kind : std::uint8_t {
  kNothing,  // not recognisable by names; it may be a group, whose members have any names
  kSeveral,  // names of several recipes
  kMutex,    // or a leader selector: they look the same
  kReadWriteLock,
  kSemaphore,   // has directories `locks` and `leases`, or kazoo's leases
  kSimpleLock,  // one ephemeral node with a fixed name, or an election by such a node
  kTimeLease,
  kTurnQueue,
  kElection,  // by a line of candidates
  kQueue,
  kGroup,
};

enum class Family : std::uint8_t {
  kCurator,  // and drover, which uses the same names
  kKazoo,
  kZooKeeper,  // ZooKeeper's own recipes and documentation
  kDrover,     // names that only drover uses
};

enum class Role : std::uint8_t { kPlain, kReader, kWriter };

// A node that belongs to the recipe.
struct Part {
  std::string name;
  std::int32_t sequence = 0;
  Role role = Role::kPlain;
  std::string key{};  // queue items: priority, due time in ms, or id
};

enum class QueueOrder : std::uint8_t { kFifo, kPriority, kDelay, kId };

struct Recognition {
  Kind kind = Kind::kNothing;
  Family family = Family::kCurator;
  QueueOrder order = QueueOrder::kFifo;
  // In order: the first one holds the lock or is taken next.
  std::vector<Part> parts{};
  std::vector<std::string> others{};  // names that do not belong to it
  std::vector<std::string> things{};  // of kSeveral: "a mutex of Curator or drover"
};

Recognition recognise(std::span<const std::string> names);

// An item of a queue has this name, or the queue's directory has a child of this name.
bool is_in_queue(std::string_view name);

std::string_view name_of(Kind kind);      // "mutex"
std::string_view name_of(Family family);  // "Curator, drover"
std::string_view name_of(QueueOrder order);

// How many hold the lock: all readers before the first writer, otherwise one.
std::size_t holders_in(Kind kind, std::span<const Part> line);

}  // namespace drover::layouts
