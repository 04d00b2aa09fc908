// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/multi_lock.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "recipes/locks/holding.h"

namespace drover::recipes {
namespace {

struct Wanted {
  std::vector<std::string> paths;  // as given
  std::vector<std::size_t> order;  // in which they are taken
  MutexOptions options;
};

// All locks are taken in the session of the first.
Task<Result<std::vector<Guard>>> try_once(Client client, Wanted wanted, Wait wait) {
  std::vector<Guard> guards(wanted.paths.size());
  for (const std::size_t i : wanted.order) {
    const Mutex mutex(client, wanted.paths[i], wanted.options);
    auto acquiring = mutex.acquire(wait);
    Result<Guard> guard = co_await std::move(acquiring);
    if (!guard) {
      for (auto done = wanted.order.rbegin(); done != wanted.order.rend(); ++done) guards[*done] = Guard();
      co_return std::unexpected(std::move(guard).error());
    }
    client = guard->holding()->client;
    guards[i] = *std::move(guard);
  }
  co_return guards;
}

Task<Result<std::vector<Guard>>> acquire_all(Client client, Wanted wanted, Wait wait) {
  auto there = client.scheduler().enter();
  co_await there;
  const auto twice = std::adjacent_find(wanted.order.begin(), wanted.order.end(),
                                        [&](auto a, auto b) { return wanted.paths[a] == wanted.paths[b]; });
  if (twice != wanted.order.end()) co_return fail(Errc::kWouldDeadlock, wanted.paths[*twice]);
  for (;;) {
    auto trying = try_once(client, wanted, wait);
    Result<std::vector<Guard>> guards = co_await std::move(trying);
    if (guards || !can_begin_again(client, guards.error()) || wait.is_over()) co_return guards;
  }
}

}  // namespace

MultiLock::MultiLock(Client client, std::vector<std::string> paths, MutexOptions options)
    : client_(std::move(client)), paths_(std::move(paths)), options_(std::move(options)) {}

Task<Result<std::vector<Guard>>> MultiLock::acquire(Wait wait) const {
  Wanted wanted{paths_, std::vector<std::size_t>(paths_.size()), options_};
  std::iota(wanted.order.begin(), wanted.order.end(), 0);
  std::sort(wanted.order.begin(), wanted.order.end(),
            [this](std::size_t a, std::size_t b) { return paths_[a] < paths_[b]; });
  return acquire_all(client_, std::move(wanted), std::move(wait));
}

}  // namespace drover::recipes
