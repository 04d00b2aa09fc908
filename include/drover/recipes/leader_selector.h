// SPDX-License-Identifier: Apache-2.0
//
// An election in which leading is a task: the elected process runs it, and when it ends, the next one is
// elected.
//
//   LeaderSelector selector(client, "/services/indexer/turns", "host-7",
//                           [](Leadership term) -> Task<Result<void>> {
//                             ...                       // until done, or a stop of term.lost
//                             co_return Result<void>{};
//                           });
//
// Guarantees: the task runs at one selector at a time, if it ends when term.lost says so. It runs on the
// client's executor. Terms are in the order of queueing; after each term the selector queues again at the end
// (LeaderSelectorOptions::requeue).
//
// Failures: a lost connection (LossPolicy::kOnSuspend), session or node stops the running term, and no other.
// A task that fails or throws is recorded (last_error()); the selector queues again. After a temporary error,
// such as a missing permission or another library's node in the directory, it keeps trying, and last_error()
// returns the error. A closed client or a wrong call ends it;
// ended() says why.
//
// Curator: LeaderSelector (same nodes; it is a mutex, and does not see a LeaderLatch on the same path).
// kazoo: Election.run().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drover/client.h"
#include "drover/recipes/layout.h"
#include "drover/recipes/leadership.h"

namespace drover::recipes {

struct LeaderSelectorOptions {
  bool requeue = true;  // false: it ends after one term
  LossPolicy loss = LossPolicy::kOnSuspend;
  std::vector<Acl> acl = {};
  Layout layout = Layout::kCurator;
};

class LeaderSelector {
 public:
  using Work = std::function<Task<Result<void>>(Leadership)>;

  LeaderSelector(Client client, std::string path, std::string id, Work work,
                 LeaderSelectorOptions options = {});
  LeaderSelector(LeaderSelector&&) noexcept = default;
  LeaderSelector& operator=(LeaderSelector&& other) noexcept;
  // Stops the running term, if any, and resigns in the background when the task has ended.
  ~LeaderSelector();

  bool is_leader() const;       // The task is running.
  std::uint64_t terms() const;  // number of terms so far
  // Stops the running term; the next one is not affected.
  void interrupt() const;
  // The error of the last task, or the error that keeps the selector from being elected.
  std::optional<Error> last_error() const;
  // Resigns, and waits until the task has ended and the node is gone.
  Task<Result<void>> close(Wait wait = {}) const;
  // Waits until it has ended: after its only term, after close(), or because the client was closed.
  Task<Result<void>> ended(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
