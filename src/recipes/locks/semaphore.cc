// SPDX-License-Identifier: Apache-2.0
//
// A client takes a mutex, creates its leases, and keeps the mutex until they fit. So at most one client has
// too many leases, only that one watches, and no other client holds some leases while it waits for more.
#include "drover/recipes/semaphore.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "base/child_path.h"
#include "drover/recipes/mutex.h"
#include "recipes/locks/holding.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {

struct Semaphore::State {
  State(Client c, std::string p, int m, SemaphoreOptions o)
      : client(std::move(c)), path(std::move(p)), options(std::move(o)), max(m) {}

  LineOptions leases() const {
    LineOptions out;
    out.directory = child_path(path, "leases");
    out.marker = "lease-";
    out.markers = {"lease-"};
    out.data = options.data;
    out.acl = options.acl;
    out.layout = Layout::kNative;  // They are counted; their order does not matter.
    return out;
  }
  bool is_patient(const Error& error, const Wait& wait) const {
    return can_begin_again(client, error) && !wait.is_over();
  }

  static Task<Result<std::vector<Guard>>> acquire(std::shared_ptr<State> state, int count, Wait wait);
  static Task<Result<std::vector<Guard>>> try_once(std::shared_ptr<State> state, int count, Wait wait);
  static Task<Result<void>> wait_until_fits(std::shared_ptr<State> state, Client bound,
                                            const std::vector<Ticket>* own, Wait wait);
  static Task<Result<Guard>> acquire_one(std::shared_ptr<State> state, Wait wait);

  const Client client;
  const std::string path;
  const SemaphoreOptions options;
  std::atomic<int> max;
  std::set<Waker*> waiting;  // of the executor
};

namespace {

// While it exists, a change of the maximum wakes the waiter.
class Registration {
 public:
  Registration(std::set<Waker*>& all, Waker& waker) : all_(all), waker_(&waker) { all_.insert(waker_); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() { all_.erase(waker_); }

 private:
  std::set<Waker*>& all_;
  Waker* waker_;
};

bool has_all(const std::vector<std::string>& names, const std::vector<Ticket>& own) {
  return std::all_of(own.begin(), own.end(), [&](const Ticket& ticket) {
    return std::find(names.begin(), names.end(), ticket.name()) != names.end();
  });
}

}  // namespace

Task<Result<void>> Semaphore::State::wait_until_fits(std::shared_ptr<State> state, Client bound,
                                                     const std::vector<Ticket>* own, Wait wait) {
  const Wait steps = for_steps(bound, wait);
  Waker waker(bound);
  const Registration registration(state->waiting, waker);
  Watch watch;
  for (;;) {
    Watch next = waker.watch();
    auto listing = read_children(bound, state->leases().directory, &next, steps);
    const Result<Children> children = co_await std::move(listing);
    watch = std::move(next);
    if (!children && children.error() != Errc::kNoNode) co_return std::unexpected(children.error());
    if (!children || !has_all(children->names, *own)) co_return fail(Errc::kLockLost, state->path);
    if (children->names.size() <= static_cast<std::size_t>(std::max(0, state->max.load())))
      co_return Result<void>{};
    if (wait.is_poll()) co_return fail(Errc::kDeadline, state->path);
    auto waiting = waker.wait(wait);
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return woken;
  }
}

Task<Result<std::vector<Guard>>> Semaphore::State::try_once(std::shared_ptr<State> state, int count,
                                                            Wait wait) {
  const Mutex mutex(state->client, child_path(state->path, "locks"));
  auto locking = mutex.acquire(wait);
  const Result<Guard> lock = co_await std::move(locking);
  if (!lock) co_return std::unexpected(lock.error());
  const Client bound = lock->holding()->client;
  std::vector<Ticket> tickets;  // They go before the lock does, whatever happens.
  for (int i = 0; i < count; ++i) {
    auto taking = take_ticket(bound, state->leases(), for_steps(bound, wait));
    Result<Ticket> ticket = co_await std::move(taking);
    if (!ticket) co_return std::unexpected(std::move(ticket).error());
    tickets.push_back(*std::move(ticket));
  }
  auto fitting = wait_until_fits(state, bound, &tickets, wait);
  const Result<void> fits = co_await std::move(fitting);
  if (!fits) co_return std::unexpected(fits.error());
  std::vector<Guard> guards;
  for (Ticket& ticket : tickets) guards.push_back(hold(std::move(ticket)));
  co_return guards;
}

Task<Result<std::vector<Guard>>> Semaphore::State::acquire(std::shared_ptr<State> state, int count,
                                                           Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  if (count < 1) co_return fail(Errc::kBadArguments, state->path);
  if (count > state->max) co_return fail(Errc::kTooMany, state->path);
  for (;;) {
    auto trying = try_once(state, count, wait);
    Result<std::vector<Guard>> guards = co_await std::move(trying);
    if (guards || !state->is_patient(guards.error(), wait)) co_return guards;
  }
}

Task<Result<Guard>> Semaphore::State::acquire_one(std::shared_ptr<State> state, Wait wait) {
  auto acquiring = acquire(std::move(state), 1, std::move(wait));
  Result<std::vector<Guard>> guards = co_await std::move(acquiring);
  if (!guards) co_return std::unexpected(std::move(guards).error());
  co_return std::move(guards->front());
}

Semaphore::Semaphore(Client client, std::string path, int max, SemaphoreOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(path), max, std::move(options))) {}

Task<Result<Guard>> Semaphore::acquire(Wait wait) const {
  return State::acquire_one(state_, std::move(wait));
}
Task<Result<std::vector<Guard>>> Semaphore::acquire(int leases, Wait wait) const {
  return State::acquire(state_, leases, std::move(wait));
}

void Semaphore::set_max(int max) const {
  state_->max = max;
  state_->client.scheduler().post([state = state_] {
    for (Waker* each : state->waiting) each->notify();
  });
}

Task<Result<std::vector<std::string>>> Semaphore::leases(Wait wait) const {
  return participants_of(state_->client, state_->leases(), std::move(wait));
}

}  // namespace drover::recipes
