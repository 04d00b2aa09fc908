// SPDX-License-Identifier: Apache-2.0
//
// Follows who leads, for processes that are not candidates.
//
//   LeaderObserver observer(client, "/services/indexer/leader");
//   Stream<std::optional<Leader>> changes = observer.changes();
//   for (;;) {
//     std::optional<Leader> leader = unwrap(sync_wait(changes.next()));
//     leader ? connect_to(leader->id) : wait();
//   }
//
// Guarantees: the stream begins with the current leader and reports every leader that stays, and when there
// is none. A leader of a moment may be skipped. The same leader is not reported twice in a row, unless its
// data has changed. A change costs each observer one notification, however many candidates there are.
//
// Failures: without a connection nothing is reported; the state is read again afterwards. Permanent errors
// (no permission, a closed client) end the stream.
//
// Curator: LeaderLatch.getLeader() with your own listener. kazoo: Election.contenders().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "drover/client.h"
#include "drover/stream.h"

namespace drover::recipes {

struct Leader {
  std::string id;  // the data of its node
  std::string node;
  Zxid fence{};  // of its term
  Zxid mzxid{};  // of the last change of its data
  friend bool operator==(const Leader&, const Leader&) = default;
};

// The recipe of the election.
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

  // As last read.
  std::optional<Leader> leader() const;
  Stream<std::optional<Leader>> changes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
