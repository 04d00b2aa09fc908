// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/heartbeat.h"

#include <atomic>
#include <utility>

#include "base/child_path.h"
#include "base/number.h"
#include "recipes/common/loop.h"

namespace drover::recipes {

std::string LiveData::to_text() const { return std::to_string(beats) + "\n" + info; }

std::optional<LiveData> LiveData::parse(std::string_view text) {
  const std::size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) return std::nullopt;
  const auto beats = parse_number<decltype(LiveData::beats)>(text.substr(0, line_end));
  if (!beats) return std::nullopt;
  return LiveData{.beats = *beats, .info = std::string(text.substr(line_end + 1))};
}

// Checks its own count periodically.
class Heartbeat::State final : public Loop {
 public:
  State(Client c, const std::string& cluster, const std::string& id, HeartbeatOptions options)
      : Loop(c),
        node(std::move(c), child_path(child_path(cluster, "live"), id), LiveData{0, options.info}.to_text(),
             {.on_conflict = options.on_conflict}),
        options_(std::move(options)) {}

  void beat() { beats_.fetch_add(1, std::memory_order_relaxed); }

  PersistentNode node;

 private:
  Task<Result<void>> look(Wait) override {
    const std::uint64_t beats = beats_.load(std::memory_order_relaxed);
    if (options_.beat_every.count() > 0) {
      if (Clock::now() >= due_ && beats != written_) {
        node.set_data(LiveData{beats, options_.info}.to_text());
        written_ = beats;
        due_ = Clock::now() + options_.beat_every;
      }
      wake_at(std::max(due_, Clock::now() + options_.beat_every / 4));
    }
    co_return Result<void>{};
  }

  const HeartbeatOptions options_;
  std::atomic<std::uint64_t> beats_{0};
  std::uint64_t written_ = 0;
  Clock::time_point due_ = Clock::time_point::min();
};

namespace {

// Starts only when it is awaited, because a ClusterMember writes its status first.
template <class State>
Task<Result<void>> begin(std::shared_ptr<State> state, Wait wait) {
  state->begin();
  auto starting = state->node.start(std::move(wait));
  const Result<std::string> path = co_await std::move(starting);
  if (!path) co_return std::unexpected(path.error());
  co_return Result<void>{};
}

}  // namespace

Heartbeat::Heartbeat(Client client, std::string cluster, std::string id, HeartbeatOptions options)
    : state_(std::make_shared<State>(std::move(client), cluster, id, std::move(options))) {}
Heartbeat::~Heartbeat() {
  if (state_) state_->end();
}
Heartbeat& Heartbeat::operator=(Heartbeat&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Task<Result<void>> Heartbeat::start(Wait wait) { return begin(state_, std::move(wait)); }
void Heartbeat::beat() { state_->beat(); }
bool Heartbeat::is_there() const { return state_->node.is_there(); }
Task<Result<void>> Heartbeat::stop(Wait wait) {
  state_->end();
  return state_->node.close(std::move(wait));
}

}  // namespace drover::recipes
