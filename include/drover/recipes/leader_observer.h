// SPDX-License-Identifier: Apache-2.0
//
// Who leads, for those who do not stand themselves.
//
//   LeaderObserver observer(client, "/services/indexer/leader");
//   Stream<std::optional<Leader>> changes = observer.changes();
//   for (;;) {
//     std::optional<Leader> leader = unwrap(sync_wait(changes.next()));
//     leader ? connect_to(leader->id) : wait();
//   }
//
// Guarantees: the stream begins with what is, and tells of every leader who stays, and of there being none;
// who leads only for a moment may be left out. The same leader is not told twice in a row, unless what it
// says of itself has changed. A change costs each observer one notification, however many stand for election.
//
// Failures: while there is no connection nothing is told, and what was missed is looked up afterwards. What
// cannot be helped (no permission, a closed client) ends the stream.
//
// Curator: LeaderLatch.getLeader() with a listener of one's own. kazoo: Election.contenders().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "drover/client.h"
#include "drover/stream.h"

namespace drover::recipes {

struct Leader {
  std::string id;  // or whatever its node says
  std::string node;
  Zxid fence{};  // that it leads with
  Zxid mzxid{};  // of the last change of what it says
  friend bool operator==(const Leader&, const Leader&) = default;
};

// By which recipe they are elected.
enum class ElectionKind : std::uint8_t {
  kLatch,     // LeaderLatch
  kSelector,  // LeaderSelector, Mutex
  kInfo,      // LeaderInfoElection, SimpleLock: the path is the leader's node
};

class LeaderObserver {
 public:
  LeaderObserver(Client client, std::string path, ElectionKind kind = ElectionKind::kLatch);
  LeaderObserver(LeaderObserver&&) noexcept = default;
  LeaderObserver& operator=(LeaderObserver&& other) noexcept;
  ~LeaderObserver();

  // As of the last look.
  std::optional<Leader> leader() const;
  Stream<std::optional<Leader>> changes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
