// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/leader_latch.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <set>
#include <utility>

#include "recipes/ticket.h"

namespace drover::recipes {
namespace {

bool is_over(ConnectionState state) {
  return state == ConnectionState::kExpired || state == ConnectionState::kAuthFailed ||
         state == ConnectionState::kClosed;
}

LineOptions line_options(std::string path, std::string id, const LeaderLatchOptions& options) {
  LineOptions line;
  line.directory = std::move(path);
  line.marker = "latch-";
  line.markers = {"latch-"};
  line.data = std::move(id);
  line.acl = options.acl;
  line.layout = options.layout;
  return line;
}

}  // namespace

// One coroutine (run) takes a place, waits, leads, and begins again; it outlives the latch by what it takes
// to remove the node. Everything but the atomics is of the executor.
struct LeaderLatch::State {
  State(Client c, LineOptions l, LossPolicy policy)
      : client(std::move(c)), line(std::move(l)), loss(policy) {}

  void gain(const Ticket& ticket) {
    if (term) return;
    term.emplace();
    session = ticket.client().bound_session();
    leads = true;
    leadership = {ticket.czxid(), term->get_token(), ticket.check(), ticket.path()};
    tell(true);
  }
  void lose() {
    if (!term) return;
    leads = false;
    const std::stop_source over = *std::exchange(term, std::nullopt);
    over.request_stop();
    tell(false);
  }
  void tell(bool now) {
    sources.remove_if([](const auto& each) { return each.is_abandoned(); });
    for (auto& each : sources) each.push(now);
    wake();
  }
  void wake() {
    for (Signal* each : waiting) each->notify();
  }
  void end(std::optional<Error> error) {
    lose();
    ended = true;
    why = std::move(error);
    for (auto& each : sources) each.close();
    wake();
  }
  Wait until_stopped() const { return Wait::forever(stop.get_token()); }

  static Task<Result<void>> run(std::shared_ptr<State> state);
  static Task<Result<void>> stay(State* state, const Ticket* ticket);
  static Task<Result<void>> lead(State* state, const Ticket* ticket);
  static Task<Result<Leadership>> await(std::shared_ptr<State> state, Wait wait);
  static Task<Result<void>> resign(std::shared_ptr<State> state, Wait wait);

  const Client client;
  const LineOptions line;
  const LossPolicy loss;
  std::stop_source stop;
  std::atomic<bool> leads{false};
  std::atomic<SessionId> session{};

  std::optional<std::stop_source> term;
  Leadership leadership;
  bool ended = false;
  std::optional<Error> why;
  std::list<StreamSource<bool>> sources;
  std::set<Signal*> waiting;
};

namespace {

class Waiting {
 public:
  Waiting(std::set<Signal*>& all, Signal& signal) : all_(all), signal_(&signal) { all_.insert(signal_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { all_.erase(signal_); }

 private:
  std::set<Signal*>& all_;
  Signal* signal_;
};

bool is_place_lost(const Error& error) { return error == Errc::kSessionExpired || error == Errc::kLockLost; }

}  // namespace

Task<Result<void>> LeaderLatch::State::run(std::shared_ptr<State> state) {
  auto there = state->client.scheduler().enter();
  co_await there;
  std::optional<Error> why;
  while (!why) {
    auto taking = take_ticket(state->client, state->line, state->until_stopped());
    Result<Ticket> ticket = co_await std::move(taking);
    if (!ticket) {
      if (!is_place_lost(ticket.error())) why = ticket.error();
      continue;
    }
    auto staying = stay(state.get(), &*ticket);
    const Result<void> stayed = co_await std::move(staying);
    state->lose();
    if (is_place_lost(stayed.error())) continue;
    why = stayed.error();
    ticket->hand_on();
    auto removing = ticket->client().remove_surely(ticket->path());
    const Result<void> removed = co_await std::move(removing);
  }
  state->end(state->stop.stop_requested() ? std::nullopt : std::move(why));
  co_return Result<void>{};
}

// Until the place is lost, or it is told to stop: it always ends with an error.
Task<Result<void>> LeaderLatch::State::stay(State* state, const Ticket* ticket) {
  auto waiting = wait_for_turn(ticket, state->line, state->until_stopped());
  const Result<void> turn = co_await std::move(waiting);
  if (!turn) co_return turn;
  auto leading = lead(state, ticket);
  co_return co_await std::move(leading);
}

// It is the first in line, and stays that as long as its node is there: all others come behind it. So after
// an interruption a look at the own node is enough.
Task<Result<void>> LeaderLatch::State::lead(State* state, const Ticket* ticket) {
  const Client& client = ticket->client();
  Waker waker(client);
  const auto states = client.on_state([state, session = client.bound_session()](const StateEvent& event) {
    const bool suspended =
        event.state == ConnectionState::kSuspended && state->loss == LossPolicy::kOnSuspend;
    if (suspended || is_over(event.state) || event.session != session) state->lose();
  });
  Watch watch;
  for (;;) {
    Watch next = waker.watch();
    auto looking = read_node(client, ticket->path(), &next, state->until_stopped());
    const Result<NodeData> node = co_await std::move(looking);
    watch = std::move(next);
    if (!node && node.error() == Errc::kNoNode) co_return fail(Errc::kLockLost, ticket->path());
    if (!node) co_return std::unexpected(node.error());
    // What is on its way to be told ends the term at once, or is the reason to look again.
    if (client.state() == ConnectionState::kConnected && client.session() == client.bound_session())
      state->gain(*ticket);
    auto waiting = waker.wait(state->until_stopped());
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) co_return woken;
  }
}

Task<Result<Leadership>> LeaderLatch::State::await(std::shared_ptr<State> state, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  Signal signal(state->client.scheduler());
  const Waiting waiting(state->waiting, signal);
  for (;;) {
    if (state->term) co_return state->leadership;
    if (state->ended) co_return std::unexpected(state->why.value_or(Error{.code = Errc::kClosed}));
    auto changing = signal.wait(wait);
    const Result<void> changed = co_await std::move(changing);
    if (!changed) co_return std::unexpected(changed.error());
  }
}

Task<Result<void>> LeaderLatch::State::resign(std::shared_ptr<State> state, Wait wait) {
  auto there = state->client.scheduler().enter();
  co_await there;
  state->stop.request_stop();
  Signal signal(state->client.scheduler());
  const Waiting waiting(state->waiting, signal);
  while (!state->ended) {
    auto changing = signal.wait(wait);
    const Result<void> changed = co_await std::move(changing);
    if (!changed) co_return changed;
  }
  co_return Result<void>{};
}

LeaderLatch::LeaderLatch(Client client, std::string path, std::string id, LeaderLatchOptions options)
    : state_(std::make_shared<State>(std::move(client), line_options(std::move(path), std::move(id), options),
                                     options.loss)) {
  start(State::run(state_));
}

LeaderLatch& LeaderLatch::operator=(LeaderLatch&& other) noexcept {
  if (state_ && this != &other) state_->stop.request_stop();
  state_ = std::move(other.state_);
  return *this;
}

LeaderLatch::~LeaderLatch() {
  if (state_) state_->stop.request_stop();
}

bool LeaderLatch::is_leader() const {
  const Client& client = state_->client;
  return state_->leads && !state_->stop.stop_requested() && client.session() == state_->session.load() &&
         client.valid_until() > Clock::now();
}

Task<Result<Leadership>> LeaderLatch::await(Wait wait) const { return State::await(state_, std::move(wait)); }
Task<Result<void>> LeaderLatch::resign(Wait wait) { return State::resign(state_, std::move(wait)); }

Stream<bool> LeaderLatch::changes() const {
  StreamSource<bool> source(state_->client.scheduler());
  Stream<bool> stream = source.stream();
  state_->client.scheduler().post([state = state_, source]() mutable {
    source.push(state->term.has_value());
    if (state->ended) source.close();
    state->sources.push_back(std::move(source));
  });
  return stream;
}

// --- looks ---

namespace {

Task<Result<std::vector<Participant>>> look_at(Client client, LineOptions line, std::size_t most, Wait wait) {
  auto listing = participants_of(client, std::move(line), wait);
  const Result<std::vector<std::string>> nodes = co_await std::move(listing);
  if (!nodes) co_return std::unexpected(nodes.error());
  std::vector<Participant> found;
  for (const std::string& node : *nodes) {
    auto reading = read_node(client, node, nullptr, wait);
    const Result<NodeData> data = co_await std::move(reading);
    if (!data && data.error() == Errc::kNoNode) continue;  // It has just left.
    if (!data) co_return std::unexpected(data.error());
    found.push_back({data->data, node, found.empty()});
    if (found.size() == most) break;
  }
  co_return found;
}

Task<Result<std::optional<Participant>>> first_of(Task<Result<std::vector<Participant>>> looking) {
  Result<std::vector<Participant>> found = co_await std::move(looking);
  if (!found) co_return std::unexpected(found.error());
  if (found->empty()) co_return std::optional<Participant>{};
  co_return std::optional(found->front());
}

}  // namespace

Task<Result<std::vector<Participant>>> LeaderLatch::participants(Wait wait) const {
  return look_at(state_->client, state_->line, static_cast<std::size_t>(-1), std::move(wait));
}
Task<Result<std::optional<Participant>>> LeaderLatch::leader(Wait wait) const {
  return first_of(look_at(state_->client, state_->line, 1, std::move(wait)));
}

}  // namespace drover::recipes
