// SPDX-License-Identifier: Apache-2.0
#include "recipes/elections/election.h"

#include <utility>

namespace drover::recipes {
std::shared_ptr<Election> Election::begin(Client client, LossPolicy loss, Take take) {
  std::shared_ptr<Election> election(new Election(std::move(client), loss, std::move(take)));
  start(run(election));
  return election;
}

// --- terms ---

void Election::gain(const Ticket& ticket) {
  if (term_) return;
  term_.emplace();
  session_ = ticket.client().bound_session();
  leads_ = true;
  leadership_ = {ticket.czxid(), term_->get_token(), ticket.check(), ticket.path()};
  tell(true);
}

void Election::lose() {
  if (!term_) return;
  leads_ = false;
  std::stop_source over = *std::exchange(term_, std::nullopt);
  over.request_stop();
  tell(false);
}

void Election::tell(bool leads) {
  sources_.remove_if([](const auto& each) { return each.is_abandoned(); });
  for (auto& each : sources_) each.push(leads);
  wake();
}

void Election::wake() {
  for (Signal* each : waiting_) each->notify();
}

void Election::end(std::optional<Error> why) {
  lose();
  ended_ = true;
  why_ = std::move(why);
  for (auto& each : sources_) each.close();
  wake();
}

// --- the work ---

Task<Result<void>> Election::run(std::shared_ptr<Election> election) {
  auto there = election->client_.scheduler().enter();
  co_await there;
  GrowingPause pause;
  for (;;) {
    auto standing = stand(election.get());
    const Result<void> stood = co_await std::move(standing);
    const Error& why = stood.error();
    if (!may_stand_again(election->client_, why)) {
      election->end(election->stop_.stop_requested() ? std::nullopt : std::optional(why));
      co_return Result<void>{};
    }
    if (can_begin_again(election->client_, why)) {
      pause.reset();
      continue;
    }
    election->failure_ = why;
    election->wake();
    auto sleeping = election->client_.scheduler().sleep(
        Wait::until(Clock::now() + pause.next(), election->stop_.get_token()));
    const Result<void> slept = co_await std::move(sleeping);
  }
}

// One candidacy, from queueing to losing the node. Always ends with an error.
Task<Result<void>> Election::stand(Election* election) {
  election->failure_.reset();
  auto taking = election->take_(election->client_, election->until_stopped());
  Result<Ticket> ticket = co_await std::move(taking);
  if (!ticket) co_return std::unexpected(ticket.error());
  auto leading = lead(election, &*ticket);
  Result<void> led = co_await std::move(leading);
  election->lose();
  if (can_begin_again(election->client_, led.error())) co_return led;
  ticket->hand_on();
  auto removing = remove_owned(ticket->client(), ticket->path(), ticket->guard(), Wait{});
  const Result<void> removed = co_await std::move(removing);
  co_return led;
}

// It leads as long as its node exists, so after a lost connection it only checks the node. Always ends with
// an error: the node is lost, or a stop was requested.
Task<Result<void>> Election::lead(Election* election, const Ticket* ticket) {
  const Client& client = ticket->client();
  const Client::Subscription held = client.hold_session();
  Waker waker(client);
  const auto states = client.on_state([election, session = client.bound_session()](const StateEvent& event) {
    const bool unsure =
        event.state == ConnectionState::kSuspended || event.state == ConnectionState::kReadOnly;
    const bool suspended = unsure && election->loss_ == LossPolicy::kOnSuspend;
    if (suspended || is_over(event.state) || event.session != session) election->lose();
  });
  Watch watch;
  for (;;) {
    Watch next = waker.watch();
    auto looking = read_node(client, ticket->path(), &next, election->until_stopped());
    const Result<NodeData> node = co_await std::move(looking);
    watch = std::move(next);
    const bool gone = node ? node->stat.czxid != ticket->czxid() : node.error() == Errc::kNoNode;
    if (gone) co_return fail(Errc::kLockLost, ticket->path());
    if (!node) co_return std::unexpected(node.error());
    // A change that is still being reported ends the term at once, or is the reason to look again.
    if (client.state() == ConnectionState::kConnected && client.session() == client.bound_session())
      election->gain(*ticket);
    auto waiting = waker.wait(election->until_stopped());
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return woken;
  }
}

// --- for the recipes' users ---

bool Election::is_leader() const {
  return leads_ && !stop_.stop_requested() && client_.session() == session_.load() &&
         client_.valid_until() > Clock::now();
}

Task<Result<Leadership>> Election::await(std::shared_ptr<Election> election, Wait wait) {
  auto there = election->client_.scheduler().enter();
  co_await there;
  Signal signal(election->client_.scheduler());
  const Waiting waiting(election->waiting_, signal);
  for (;;) {
    if (election->term_) co_return election->leadership_;
    if (election->ended_) co_return std::unexpected(election->why_.value_or(Error{.code = Errc::kClosed}));
    if (election->failure_) co_return std::unexpected(*election->failure_);
    auto changing = signal.wait(wait);
    const Result<void> changed = co_await std::move(changing);
    if (!changed) co_return std::unexpected(changed.error());
  }
}

Task<Result<void>> Election::resign(std::shared_ptr<Election> election, Wait wait) {
  auto there = election->client_.scheduler().enter();
  co_await there;
  election->stop();
  Signal signal(election->client_.scheduler());
  const Waiting waiting(election->waiting_, signal);
  while (!election->ended_) {
    auto changing = signal.wait(wait);
    const Result<void> changed = co_await std::move(changing);
    if (!changed) co_return changed;
  }
  co_return Result<void>{};
}

Stream<bool> Election::changes(std::shared_ptr<Election> election) {
  const Scheduler scheduler = election->client_.scheduler();
  StreamSource<bool> source(scheduler);
  Stream<bool> stream = source.stream();
  scheduler.post([election = std::move(election), source]() mutable {
    source.push(election->term_.has_value());
    if (election->ended_) source.close();
    election->sources_.push_back(std::move(source));
  });
  return stream;
}

}  // namespace drover::recipes
