// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/leader_observer.h"

#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "base/child_path.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {
namespace {

// Each read sets a watch on the node that decides: the leader's node, or, without a leader, the node that
// must appear first.
struct LineView {
  Client client;
  std::string path;
  ElectionKind kind;
  Wait wait;
};

Result<std::string> first_in_line(const LineView& look, const std::vector<std::string>& names) {
  const std::string_view marker = look.kind == ElectionKind::kLatch ? "latch-" : "lock-";
  const auto line = line_of(names, {marker}, {}, Layout::kNative);
  if (!line) return std::unexpected(line.error());
  return line->empty() ? std::string() : child_path(look.path, line->front().name);
}

// The leader's node; empty: no candidates, and `watch` reports the first one.
Task<Result<std::string>> find_node(LineView look, const Watch* watch) {
  if (look.kind == ElectionKind::kInfo) co_return look.path;
  for (const Watch* on_list : {static_cast<const Watch*>(nullptr), watch}) {
    auto listing = read_children(look.client, look.path, on_list, look.wait);
    const Result<Children> children = co_await std::move(listing);
    if (!children && children.error() == Errc::kNoNode) {
      auto looking = look.client.exists(look.path, *watch, look.wait);
      const Result<std::optional<Stat>> there = co_await std::move(looking);
      if (!there) co_return std::unexpected(there.error());
      if (!*there) co_return std::string();
      continue;
    }
    if (!children) co_return std::unexpected(children.error());
    Result<std::string> first = first_in_line(look, children->names);
    // The second list is read with a watch, so no new candidate is missed.
    if (!first || !first->empty() || on_list) co_return first;
  }
  co_return fail(Errc::kConnectionLoss, look.path);  // It came and went: look again.
}

Task<Result<std::optional<Leader>>> find_leader(LineView look, const Watch* watch) {
  for (;;) {
    auto finding = find_node(look, watch);
    const Result<std::string> node = co_await std::move(finding);
    if (!node) co_return std::unexpected(node.error());
    if (node->empty()) co_return std::optional<Leader>{};
    auto reading = read_node(look.client, *node, watch, look.wait);
    Result<NodeData> data = co_await std::move(reading);
    if (data) co_return Leader{std::move(data->data), *node, data->stat.czxid, data->stat.mzxid};
    if (data.error() != Errc::kNoNode) co_return std::unexpected(data.error());
    if (look.kind != ElectionKind::kInfo) continue;
    auto looking = look.client.exists(*node, *watch, look.wait);
    const Result<std::optional<Stat>> there = co_await std::move(looking);
    if (!there) co_return std::unexpected(there.error());
    if (!*there) co_return std::optional<Leader>{};
  }
}

}  // namespace

struct LeaderObserver::State {
  State(Client c, std::string p, ElectionKind k) : client(std::move(c)), path(std::move(p)), kind(k) {}

  void tell(std::optional<Leader> found) {
    {
      const std::lock_guard lock(mutex);
      if (told && leader == found) return;
      leader = found;
    }
    told = true;
    sources.remove_if([](const auto& each) { return each.is_abandoned(); });
    for (auto& each : sources) each.push(found);
  }
  static Task<Result<void>> run(std::shared_ptr<State> state);

  const Client client;
  const std::string path;
  const ElectionKind kind;
  std::stop_source stop;
  std::mutex mutex;
  std::optional<Leader> leader;

  // Used only on the executor.
  bool told = false;
  bool ended = false;
  std::list<StreamSource<std::optional<Leader>>> sources;
};

Task<Result<void>> LeaderObserver::State::run(std::shared_ptr<State> state) {
  auto there = state->client.scheduler().enter();
  co_await there;
  const Wait wait = Wait::forever(state->stop.get_token());
  Waker waker(state->client);
  Watch watch;
  for (;;) {
    Watch next = waker.watch();
    auto looking = find_leader({state->client, state->path, state->kind, wait}, &next);
    Result<std::optional<Leader>> leader = co_await std::move(looking);
    watch = std::move(next);
    if (!leader) {
      const bool again = has_next_session(state->client, leader.error()) || is_recoverable(leader.error());
      if (!again) break;
      auto pausing = pause_before_retry(state->client, leader.error(), wait);
      const Result<void> paused = co_await std::move(pausing);
      if (!paused) break;
      continue;
    }
    state->tell(*std::move(leader));
    auto waiting = waker.wait(wait);
    const Result<void> woken = co_await std::move(waiting);
    if (!woken) break;
  }
  state->ended = true;
  for (auto& each : state->sources) each.close();
  co_return Result<void>{};
}

LeaderObserver::LeaderObserver(Client client, std::string path, ElectionKind kind)
    : state_(std::make_shared<State>(std::move(client), std::move(path), kind)) {
  start(State::run(state_));
}
LeaderObserver& LeaderObserver::operator=(LeaderObserver&& other) noexcept {
  if (state_ && this != &other) state_->stop.request_stop();
  state_ = std::move(other.state_);
  return *this;
}
LeaderObserver::~LeaderObserver() {
  if (state_) state_->stop.request_stop();
}

std::optional<Leader> LeaderObserver::leader() const {
  const std::lock_guard lock(state_->mutex);
  return state_->leader;
}

Stream<std::optional<Leader>> LeaderObserver::changes() const {
  StreamSource<std::optional<Leader>> source(state_->client.scheduler());
  Stream<std::optional<Leader>> stream = source.stream();
  state_->client.scheduler().post([state = state_, source]() mutable {
    if (state->told) source.push(state->leader);
    if (state->ended) source.close();
    state->sources.push_back(std::move(source));
  });
  return stream;
}

}  // namespace drover::recipes
