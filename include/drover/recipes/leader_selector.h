// SPDX-License-Identifier: Apache-2.0
//
// An election in which leading is a piece of work: whoever is elected runs it, and when it ends, the next one
// is elected.
//
//   LeaderSelector selector(client, "/services/indexer/turns", "host-7",
//                           [](Leadership term) -> Task<Result<void>> {
//                             ...                       // until done, or term.lost is requested
//                             co_return Result<void>{};
//                           });
//
// Guarantees: the work runs at one selector at a time, as long as it ends when term.lost says so; it runs on
// the client's executor. Terms come in the order of standing for them; a selector stands again, at the end of
// the line, after each (LeaderSelectorOptions::requeue).
//
// Failures: a lost connection (LossPolicy::kOnSuspend), session or node requests the stop of the running
// term, and of no other. Work that fails or throws is recorded (last_error()) and changes nothing about
// standing again. The selector goes on trying after an error that may pass, such as a missing permission or
// another library's node in the directory; last_error() tells. A closed client or a wrong call ends it;
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
  bool requeue = true;  // otherwise one term, and then it has ended
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
  // Stops the running term, if there is one, and stands down in the background, after the work has ended.
  ~LeaderSelector();

  bool is_leader() const;       // The work is running.
  std::uint64_t terms() const;  // that have begun
  // Requests the stop of the running term; the next one is not affected.
  void interrupt() const;
  // The error that the last term's work ended with, or that keeps the selector from being elected.
  std::optional<Error> last_error() const;
  // Stands down, and waits until work and node are gone.
  Task<Result<void>> close(Wait wait = {}) const;
  // Until it stands no more: after its one term, after close(), or because the client is closed.
  Task<Result<void>> ended(Wait wait = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
