// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/persistent_watcher.h"

#include <optional>
#include <utility>

#include "recipes/common/loop.h"

namespace drover::recipes {

class PersistentWatcher::State final : public Loop {
 public:
  State(Client client, std::string path, WatchMode mode, Callbacks callbacks)
      : Loop(std::move(client)), path_(std::move(path)), mode_(mode), callbacks_(std::move(callbacks)) {}

  static Task<Result<void>> start(std::shared_ptr<State> self, Wait wait) {
    auto there = self->scheduler().enter();
    co_await there;
    self->begin();
    auto watching = until(
        self,
        [state = self.get()]() -> Result<bool> {
          if (state->failure_) return std::unexpected(*state->failure_);
          return state->armed_;
        },
        std::move(wait));
    co_return co_await std::move(watching);
  }

  // On the executor no callback may run after the end; end() alone takes effect a step later.
  void end_quietly() {
    if (scheduler().is_current()) muted_ = true;
    end();
  }

 private:
  Task<Result<void>> look(Wait wait) override { return arm_and_tell(*this, std::move(wait)); }
  // The loop keeps itself alive while it runs.
  static Task<Result<void>> arm_and_tell(State& self, Wait wait) {
    if (!self.armed_) {
      self.watch_ = Watch([weak = self.weak_from_this()](const WatchEvent& event) {
        if (const auto loop = weak.lock()) static_cast<State&>(*loop).on_watch(event);
      });
      auto watching = self.client().add_watch(self.path_, self.mode_, self.watch_, wait);
      const Result<void> watched = co_await std::move(watching);
      if (!watched) co_return watched;
      self.armed_ = true;
      self.gap_ = true;
      self.failure_.reset();
    }
    // If the connection is lost again, another gap follows, so this one need not be reported.
    if (self.gap_ && self.connected_) {
      self.gap_ = false;
      if (self.callbacks_.on_gap && !self.muted_) self.callbacks_.on_gap();
      self.tell();
    }
    co_return Result<void>{};
  }

  void on_state(const StateEvent& event) override {
    connected_ = event.state == ConnectionState::kConnected || event.state == ConnectionState::kReadOnly;
    if (connected_) gap_ = true;
  }
  void on_failure(const Error& error) override {
    failure_ = error;
    tell();
  }
  void on_end() override { watch_.reset(); }
  void on_watch(const WatchEvent& event) {
    if (event.type == EventType::kWatchLost) {
      armed_ = false;
      return again();
    }
    if (callbacks_.on_event && !muted_ && !is_ending()) callbacks_.on_event(event);
  }

  const std::string path_;
  const WatchMode mode_;
  const Callbacks callbacks_;
  Watch watch_;
  bool connected_ = false;
  bool armed_ = false;
  bool muted_ = false;
  bool gap_ = true;
  std::optional<Error> failure_;
};

PersistentWatcher::PersistentWatcher(Client client, std::string path, WatchMode mode, Callbacks callbacks)
    : state_(std::make_shared<State>(std::move(client), std::move(path), mode, std::move(callbacks))) {}

PersistentWatcher& PersistentWatcher::operator=(PersistentWatcher&& other) noexcept {
  if (this != &other) {
    if (state_) state_->end_quietly();
    state_ = std::move(other.state_);
  }
  return *this;
}

PersistentWatcher::~PersistentWatcher() {
  if (state_) state_->end_quietly();
}

Task<Result<void>> PersistentWatcher::start(Wait wait) const { return State::start(state_, std::move(wait)); }

}  // namespace drover::recipes
