// SPDX-License-Identifier: Apache-2.0
//
// What is this directory? Recipes are recognised by the names of their nodes, whoever wrote them:
//
//   _c_<uuid>-lock-0000000007       Curator's mutex, and ours
//   _c_<uuid>-__WRIT__0000000007    the writer of a read/write lock
//   _c_<uuid>-latch-0000000007      a candidate of a leader latch
//   a3f1…__lock__0000000007         kazoo's lock; its reader has __rlock__
//   x-<session>-0000000007          ZooKeeper's lock
//   locks/, leases/                 a semaphore
//   queue-0000000007                an item of a queue
//
// Pure: names in, an opinion out. `drover locks` asks it of what a client sees, the dashboard of what its
// server has; both read the nodes themselves to tell who holds what.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drover::layouts {

enum class Kind : std::uint8_t {
  kNothing,  // that names tell; it may be a group, whose members have any names
  kSeveral,  // things at once
  kMutex,    // or a leader selector: they look the same
  kReadWriteLock,
  kSemaphore,   // has directories `locks` and `leases`, or kazoo's leases
  kSimpleLock,  // one ephemeral node of a fixed name, or an election by such a node
  kTimeLease,
  kTurnQueue,
  kElection,  // by a line of candidates
  kQueue,
  kGroup,
};

enum class Family : std::uint8_t {
  kCurator,  // and drover, which has the same names
  kKazoo,
  kZooKeeper,  // of its own recipes and documentation
  kDrover,     // names that only drover has
};

enum class Role : std::uint8_t { kPlain, kReader, kWriter };

// A node that takes part.
struct Part {
  std::string name;
  std::int32_t sequence = 0;
  Role role = Role::kPlain;
  std::string key{};  // of an item: its priority, the time it is due in ms, or its id
};

enum class QueueOrder : std::uint8_t { kFifo, kPriority, kDelay, kId };

struct Recognition {
  Kind kind = Kind::kNothing;
  Family family = Family::kCurator;
  QueueOrder order = QueueOrder::kFifo;
  // In the order of the line, first the one whose turn it is. Of a queue: in the order of taking.
  std::vector<Part> parts{};
  std::vector<std::string> others{};  // names that do not belong to it
  std::vector<std::string> things{};  // of kSeveral: "a mutex of Curator or drover"
};

Recognition recognise(std::span<const std::string> names);

std::string_view name_of(Kind kind);      // "mutex"
std::string_view name_of(Family family);  // "Curator, drover"
std::string_view name_of(QueueOrder order);

// How many of a line hold: of readers and writers all that stand together at its head, otherwise one.
std::size_t holders_in(Kind kind, std::span<const Part> line);

// In the order in which a parent counts, across the wrap from 2147483647 to -2147483648.
constexpr bool sequence_before(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b)) < 0;
}

}  // namespace drover::layouts
