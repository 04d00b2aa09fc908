// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/node_cache.h"

#include <mutex>
#include <utility>

#include "recipes/common/loop.h"

namespace drover::recipes {

class NodeCache::State final : public Loop {
 public:
  State(Client c, std::string path) : Loop(std::move(c)), path_(std::move(path)), watch_(new_watch()) {}

  std::optional<NodeData> current() const {
    const std::lock_guard lock(mutex_);
    return node_;
  }
  std::optional<Error> failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  // --- on the executor ---
  Result<bool> has_changed_since(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    if (number_ > number) return true;
    if (failure_) return std::unexpected(*failure_);
    return false;
  }
  static Task<Result<std::optional<NodeData>>> next(std::shared_ptr<State> self, Wait wait);
  static Task<Result<void>> refresh(std::shared_ptr<State> self, Wait wait);

 private:
  Task<Result<void>> look(Wait wait) override { return look_at(*this, std::move(wait)); }
  static Task<Result<void>> look_at(State& self, Wait wait);
  void on_failure(const Error& error) override {
    const std::lock_guard lock(mutex_);
    failure_ = error;
  }
  void on_end() override { watch_.reset(); }

  // Versions restart with a recreated node, and wrap; mzxids do neither.
  void apply(std::optional<NodeData> node) {
    const std::lock_guard lock(mutex_);
    failure_.reset();
    const bool same = node ? node_ && node_->stat.mzxid == node->stat.mzxid : !node_;
    if (number_ > 0 && same) return;
    node_ = std::move(node);
    ++number_;
  }

  const std::string path_;
  Watch watch_;
  std::uint64_t given_ = 0;  // the number of what next() gave last

  mutable std::mutex mutex_;  // of what follows
  std::optional<NodeData> node_;
  std::uint64_t number_ = 0;  // of states seen; 0: it has not been read
  std::optional<Error> failure_;
};

Task<Result<void>> NodeCache::State::look_at(State& self, Wait wait) {
  for (;;) {
    auto reading = self.client().get(self.path_, self.watch_, wait);
    Result<NodeData> node = co_await std::move(reading);
    if (node) {
      self.apply(*std::move(node));
      co_return Result<void>{};
    }
    if (node.error() != Errc::kNoNode) co_return std::unexpected(node.error());
    auto looking = self.client().exists(self.path_, self.watch_, wait);
    const Result<std::optional<Stat>> stat = co_await std::move(looking);
    if (!stat) co_return std::unexpected(stat.error());
    if (*stat) continue;  // It has come in between.
    self.apply(std::nullopt);
    co_return Result<void>{};
  }
}

Task<Result<std::optional<NodeData>>> NodeCache::State::next(std::shared_ptr<State> self, Wait wait) {
  auto waiting = until(self, [&self] { return self->has_changed_since(self->given_); }, wait);
  const Result<void> changed = co_await std::move(waiting);
  if (!changed) co_return std::unexpected(changed.error());
  const std::lock_guard lock(self->mutex_);
  self->given_ = self->number_;
  co_return self->node_;
}

Task<Result<void>> NodeCache::State::refresh(std::shared_ptr<State> self, Wait wait) {
  auto there = self->scheduler().enter();
  co_await there;
  auto syncing = self->client().sync(self->path_, wait);
  const Result<void> synced = co_await std::move(syncing);
  if (!synced) co_return synced;
  auto looking = look_at(*self, wait);
  const Result<void> looked = co_await std::move(looking);
  self->tell();
  co_return looked;
}

NodeCache::NodeCache(Client client, std::string path)
    : state_(std::make_shared<State>(std::move(client), std::move(path))) {}
NodeCache::~NodeCache() {
  if (state_) state_->end();
}
NodeCache& NodeCache::operator=(NodeCache&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Task<Result<void>> NodeCache::start(Wait wait) {
  state_->begin();
  return Loop::until(state_, [state = state_.get()] { return state->has_changed_since(0); }, std::move(wait));
}
Task<Result<std::optional<NodeData>>> NodeCache::next(Wait wait) {
  state_->begin();
  return State::next(state_, std::move(wait));
}
Task<Result<void>> NodeCache::refresh(Wait wait) { return State::refresh(state_, std::move(wait)); }

std::optional<NodeData> NodeCache::current() const { return state_->current(); }
std::optional<Error> NodeCache::failure() const { return state_->failure(); }

}  // namespace drover::recipes
