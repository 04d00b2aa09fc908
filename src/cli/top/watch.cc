// SPDX-License-Identifier: Apache-2.0
#include "cli/top/watch.h"

namespace drover::cli::observe {

PathWatch::PathWatch(const Client& client, bool wanted) : state_(std::make_shared<State>(client)) {
  if (!wanted) {
    state_->trouble = "not counted (--no-paths)";
    return;
  }
  const std::weak_ptr<State> weak = state_;
  state_->watch = Watch([weak](const WatchEvent& event) {
    const auto state = weak.lock();
    if (!state) return;
    if (event.type == EventType::kWatchLost) return set(state);
    const std::lock_guard lock(state->mutex);
    state->counts.add(event.path);
  });
  set(state_);
}

void PathWatch::set(const std::shared_ptr<State>& state) {
  start(state->client.add_watch("/", WatchMode::kPersistentRecursive, state->watch),
        [state](Result<void> set) {
          const std::lock_guard lock(state->mutex);
          state->trouble = set ? "" : "cannot set a recursive watch: " + set.error().to_text();
          if (set && !state->since) state->since = std::chrono::steady_clock::now();
        });
}

void PathWatch::fill(Board& board, int depth, std::size_t count) const {
  const std::lock_guard lock(state_->mutex);
  board.paths_trouble = state_->trouble;
  board.paths = state_->counts.hottest(depth, count);
  board.changes = state_->counts.total();
  if (state_->since) {
    board.changes_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - *state_->since).count();
  }
}

}  // namespace drover::cli::observe
