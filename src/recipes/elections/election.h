// SPDX-License-Identifier: Apache-2.0
//
// The common part of elections: queueing, leading, losing leadership, and starting again. The recipe decides
// how to queue.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>

#include "drover/client.h"
#include "drover/recipes/leadership.h"
#include "drover/stream.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {

// One coroutine (run) does everything; it outlives the recipe's object until the node is removed. Everything
// except the atomics is used only on the executor.
class Election {
 public:
  // Waits for its turn; returns the node that it leads with.
  using Take = std::function<Task<Result<Ticket>>(Client, Wait)>;

  static std::shared_ptr<Election> begin(Client client, LossPolicy loss, Take take);
  // Resigns in the background. Safe to call from any thread.
  void stop() { stop_.request_stop(); }

  bool is_leader() const;
  static Task<Result<Leadership>> await(std::shared_ptr<Election> election, Wait wait);
  static Task<Result<void>> resign(std::shared_ptr<Election> election, Wait wait);
  static Stream<bool> changes(std::shared_ptr<Election> election);

 private:
  Election(Client client, LossPolicy loss, Take take)
      : client_(std::move(client)), loss_(loss), take_(std::move(take)) {}

  void gain(const Ticket& ticket);
  void lose();
  void tell(bool leads);
  void wake();
  void end(std::optional<Error> why);
  Wait until_stopped() const { return Wait::forever(stop_.get_token()); }
  static Task<Result<void>> run(std::shared_ptr<Election> election);
  static Task<Result<void>> stand(Election* election);
  static Task<Result<void>> lead(Election* election, const Ticket* ticket);

  const Client client_;
  const LossPolicy loss_;
  const Take take_;
  std::stop_source stop_;
  std::atomic<bool> leads_{false};
  std::atomic<SessionId> session_{};

  std::optional<std::stop_source> term_;
  Leadership leadership_;
  bool ended_ = false;
  std::optional<Error> why_;
  std::optional<Error> failure_;  // of the last try, while the next one waits
  std::list<StreamSource<bool>> sources_;
  std::set<Signal*> waiting_;
};

}  // namespace drover::recipes
