// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/cyclic_barrier.h"

#include "recipes/barriers/generation.h"

namespace drover::recipes {
namespace {

// The round has opened. Only cleanup is left, and its failure is not an error.
Task<Result<void>> tidy_up(Client client, std::string directory, std::string own, bool is_last, Wait wait) {
  CO_TRY(client.remove_surely(own, std::nullopt, wait));
  CO_TRY(retire_round(client, directory, wait));
  if (is_last) CO_TRY(retire_rounds_before(client, directory, wait));
  co_return Result<void>{};
}

Task<Result<int>> arrive(Client client, Gathering gathering, Wait wait) {
  CO_TRY_ASSIGN(Round round, gather(client, gathering, wait));
  const int index = round.index();
  const Client bound = round.own.client();
  round.own.release();  // remove_surely() sees to it, however it ends.
  auto tidying = tidy_up(bound, round.directory, round.own.path(), index + 1 == gathering.parties,
                         for_steps(bound, wait));
  const Result<void> tidied = co_await std::move(tidying);
  co_return index;
}

}  // namespace

Task<Result<int>> CyclicBarrier::arrive_and_wait(Wait wait) const {
  const bool breaks = options_.on_loss == PartyLoss::kBreak;
  return arrive(client_, {path_, options_.parties, breaks}, std::move(wait));
}

}  // namespace drover::recipes
