// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/leader_selector.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <set>
#include <utility>

#include "recipes/locks/holding.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {
namespace {

struct Stop {
  std::stop_source source;
  void operator()() const { source.request_stop(); }
};

Error error_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Exception& exception) {
    return exception.error();
  } catch (const std::exception& exception) {
    return {.code = Errc::kSystemError, .detail = exception.what()};
  } catch (...) {
    return {.code = Errc::kSystemError};
  }
}

}  // namespace

struct LeaderSelector::State {
  State(Client c, LineOptions l, Work w, const LeaderSelectorOptions& o)
      : client(std::move(c)), line(std::move(l)), work(std::move(w)), options(o) {}

  static Task<Result<void>> run(std::shared_ptr<State> state);
  static Task<Result<Ticket>> stand(State* state);
  static Task<Result<void>> one_term(State* state, Guard* guard);
  static Task<Result<void>> ended_of(std::shared_ptr<State> state, Wait wait);
  static Task<Result<void>> close(std::shared_ptr<State> state, Wait wait);

  const Client client;
  const LineOptions line;
  const Work work;
  const LeaderSelectorOptions options;
  std::stop_source stop;
  std::atomic<bool> leads{false};
  std::atomic<std::uint64_t> terms{0};

  mutable std::mutex mutex;
  std::optional<std::stop_source> term;
  std::optional<Error> last_error;

  // Used only on the executor.
  bool is_over = false;
  std::optional<Error> why;
  std::set<Signal*> waiting;
};

Task<Result<void>> LeaderSelector::State::one_term(State* state, Guard* guard) {
  std::stop_source term;
  {
    const std::lock_guard lock(state->mutex);
    state->term = term;
  }
  const bool on_suspend = state->options.loss == LossPolicy::kOnSuspend;
  const std::stop_callback lost(guard->lost(), Stop{term});
  const std::stop_callback suspect(on_suspend ? guard->suspect() : std::stop_token{}, Stop{term});
  const std::stop_callback closed(state->stop.get_token(), Stop{term});
  ++state->terms;
  state->leads = true;
  std::optional<Error> error;
  std::exception_ptr thrown;
  try {
    auto working = state->work({guard->fence(), term.get_token(), guard->check_op(), guard->node()});
    Result<void> done = co_await std::move(working);
    if (!done) error = std::move(done).error();
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) error = error_of(thrown);
  state->leads = false;
  const std::lock_guard lock(state->mutex);
  state->term.reset();
  state->last_error = std::move(error);
  co_return Result<void>{};
}

// Waits until it is elected, and retries after temporary errors.
Task<Result<Ticket>> LeaderSelector::State::stand(State* state) {
  GrowingPause pause;
  for (;;) {
    auto acquiring = acquire_turn(state->client, state->line, Wait::forever(state->stop.get_token()));
    Result<Ticket> ticket = co_await std::move(acquiring);
    if (ticket || !may_stand_again(state->client, ticket.error())) co_return ticket;
    {
      const std::lock_guard lock(state->mutex);
      state->last_error = ticket.error();
    }
    auto sleeping =
        state->client.scheduler().sleep(Wait::until(Clock::now() + pause.next(), state->stop.get_token()));
    const Result<void> slept = co_await std::move(sleeping);
  }
}

Task<Result<void>> LeaderSelector::State::run(std::shared_ptr<State> state) {
  auto there = state->client.scheduler().enter();
  co_await there;
  for (bool again = true; again && !state->stop.stop_requested(); again = state->options.requeue) {
    auto standing = stand(state.get());
    Result<Ticket> ticket = co_await std::move(standing);
    if (!ticket) {
      if (!state->stop.stop_requested()) state->why = ticket.error();
      break;
    }
    Guard guard = hold(*std::move(ticket), {.watch_node = true});
    auto leading = one_term(state.get(), &guard);
    const Result<void> led = co_await std::move(leading);
    // Remove the node before queueing again; otherwise it would wait for itself.
    auto releasing = guard.release();
    const Result<void> released = co_await std::move(releasing);
  }
  state->is_over = true;
  for (Signal* each : state->waiting) each->notify();
  co_return Result<void>{};
}

Task<Result<void>> LeaderSelector::State::ended_of(std::shared_ptr<State> state, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  Signal signal(state->client.scheduler());
  const Waiting waiting(state->waiting, signal);
  while (!state->is_over) {
    auto changing = signal.wait(wait);
    const Result<void> changed = co_await std::move(changing);
    if (!changed) co_return changed;
  }
  if (state->why) co_return std::unexpected(*state->why);
  co_return Result<void>{};
}

Task<Result<void>> LeaderSelector::State::close(std::shared_ptr<State> state, Wait wait) {
  state->stop.request_stop();
  auto ending = ended_of(state, std::move(wait));
  co_return co_await std::move(ending);
}

LeaderSelector::LeaderSelector(Client client, std::string path, std::string id, Work work,
                               LeaderSelectorOptions options) {
  LineOptions line;
  line.directory = std::move(path);
  line.marker = "lock-";
  line.markers = {"lock-"};
  line.data = std::move(id);
  line.acl = options.acl;
  line.layout = options.layout;
  state_ = std::make_shared<State>(std::move(client), std::move(line), std::move(work), options);
  start(State::run(state_));
}

LeaderSelector& LeaderSelector::operator=(LeaderSelector&& other) noexcept {
  if (state_ && this != &other) state_->stop.request_stop();
  state_ = std::move(other.state_);
  return *this;
}

LeaderSelector::~LeaderSelector() {
  if (state_) state_->stop.request_stop();
}

bool LeaderSelector::is_leader() const { return state_->leads; }
std::uint64_t LeaderSelector::terms() const { return state_->terms; }

void LeaderSelector::interrupt() const {
  std::optional<std::stop_source> term;
  {
    const std::lock_guard lock(state_->mutex);
    term = state_->term;
  }
  if (term) term->request_stop();
}

std::optional<Error> LeaderSelector::last_error() const {
  const std::lock_guard lock(state_->mutex);
  return state_->last_error;
}

Task<Result<void>> LeaderSelector::close(Wait wait) const { return State::close(state_, std::move(wait)); }
Task<Result<void>> LeaderSelector::ended(Wait wait) const { return State::ended_of(state_, std::move(wait)); }

}  // namespace drover::recipes
