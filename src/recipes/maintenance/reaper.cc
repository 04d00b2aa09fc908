// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/reaper.h"

#include <atomic>
#include <map>
#include <utility>

#include "base/child_path.h"
#include "recipes/common/loop.h"

namespace drover::recipes {

class Reaper::State final : public Loop {
 public:
  State(Client c, std::string parent, ReaperOptions options)
      : Loop(std::move(c)), parent_(std::move(parent)), options_(options) {}

  std::uint64_t removed() const { return removed_.load(std::memory_order_relaxed); }

 private:
  // The state of a childless node, and how often it was seen in a row.
  struct Seen {
    Zxid czxid{};
    std::int32_t cversion = 0;
    int times = 0;
  };

  Task<Result<void>> look(Wait wait) override { return look_at(*this, std::move(wait)); }
  static Task<Result<void>> look_at(State& self, Wait wait);
  static Task<Result<void>> check(State& self, std::string path, Wait wait);
  bool is_ripe(const std::string& path, const Stat& stat);

  const std::string parent_;
  const ReaperOptions options_;
  std::map<std::string, Seen> seen_;
  Clock::time_point due_ = Clock::time_point::min();
  std::atomic<std::uint64_t> removed_{0};
};

// The loop also runs with every change of the connection; checks only when they are due.
Task<Result<void>> Reaper::State::look_at(State& self, Wait wait) {
  if (Clock::now() >= self.due_) {
    auto listing = self.client().children(self.parent_, wait);
    const Result<Children> children = co_await std::move(listing);
    if (!children && children.error() != Errc::kNoNode) co_return std::unexpected(children.error());
    std::map<std::string, Seen> before = std::exchange(self.seen_, {});
    for (const std::string& name : children ? children->names : std::vector<std::string>{}) {
      const std::string path = child_path(self.parent_, name);
      if (const auto known = before.find(path); known != before.end()) self.seen_[path] = known->second;
      auto checking = check(self, path, wait);
      const Result<void> checked = co_await std::move(checking);
      if (!checked) co_return checked;
    }
    self.due_ = Clock::now() + self.options_.check_every;
  }
  self.wake_at(self.due_);
  co_return Result<void>{};
}

// Children that came and went have changed the count.
bool Reaper::State::is_ripe(const std::string& path, const Stat& stat) {
  const bool empty =
      stat.num_children == 0 && !stat.is_ephemeral() && (options_.with_data || stat.data_length == 0);
  if (!empty) {
    seen_.erase(path);
    return false;
  }
  Seen& seen = seen_[path];
  if (seen.czxid != stat.czxid || seen.cversion != stat.cversion) seen = {stat.czxid, stat.cversion, 0};
  return ++seen.times >= options_.checks;
}

Task<Result<void>> Reaper::State::check(State& self, std::string path, Wait wait) {
  auto looking = self.client().exists(path, wait);
  const Result<std::optional<Stat>> stat = co_await std::move(looking);
  if (!stat) co_return std::unexpected(stat.error());
  if (!*stat || !self.is_ripe(path, **stat)) co_return Result<void>{};
  auto removing = self.client().remove(path, (*stat)->version, wait);
  const Result<void> removed = co_await std::move(removing);
  if (removed) self.removed_.fetch_add(1, std::memory_order_relaxed);
  self.seen_.erase(path);
  const bool in_use = !removed && (removed.error() == Errc::kNotEmpty || removed.error() == Errc::kNoNode ||
                                   removed.error() == Errc::kBadVersion || removed.error() == Errc::kNoAuth);
  if (removed || in_use) co_return Result<void>{};
  co_return removed;
}

Reaper::Reaper(Client client, std::string parent, ReaperOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(parent), options)) {
  state_->begin();
}
Reaper::~Reaper() {
  if (state_) state_->end();
}
Reaper& Reaper::operator=(Reaper&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
std::uint64_t Reaper::removed() const { return state_->removed(); }

}  // namespace drover::recipes
