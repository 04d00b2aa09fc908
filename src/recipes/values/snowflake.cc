// SPDX-License-Identifier: Apache-2.0
//
// <path>/workers/<slot> is ephemeral and belongs to the owner of the slot. <path>/clock/<slot> holds the
// millisecond up to which its ids may have been given. It is written in advance, one period ahead. So the
// next owner knows where to begin, even if the two clocks disagree, and an owner that has lost its session
// without knowing it cannot go beyond that time.
#include <algorithm>
#include <mutex>
#include <utility>

#include "base/child_path.h"
#include "base/number.h"
#include "base/path.h"
#include "drover/recipes/id_generator.h"
#include "recipes/common/loop.h"
#include "recipes/common/settle.h"
#include "recipes/common/steps.h"
#include "recipes/common/token.h"

namespace drover::recipes {
namespace {

constexpr int kSlotBits = 10;
constexpr int kCountBits = 12;
constexpr std::int64_t kCountMax = 1 << kCountBits;

std::int64_t system_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Result<std::int64_t> number_of(const std::string& text, const std::string& path) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number) return fail(Errc::kBadData, path);
  return *number;
}

}  // namespace

class SnowflakeIds::State final : public Loop {
 public:
  State(Client c, std::string path, SnowflakeOptions options)
      : Loop(std::move(c)),
        workers_(child_path(path, "workers")),
        clocks_(child_path(path, "clock")),
        options_(std::move(options)),
        watch_(new_watch()) {
    options_.slots = std::clamp(options_.slots, 1, 1 << kSlotBits);
    if (!options_.wall_ms) options_.wall_ms = system_ms;
  }

  Result<std::int64_t> next();
  std::optional<int> slot() const {
    const std::lock_guard lock(mutex_);
    return slot_;
  }
  Result<bool> is_ready() const {
    const std::lock_guard lock(mutex_);
    if (slot_ && options_.wall_ms() >= floor_ms_) return true;
    if (failure_) return std::unexpected(*failure_);
    return false;
  }

 private:
  Task<Result<void>> look(Wait wait) override { return look_at(*this, std::move(wait)); }
  Task<Result<void>> finish() override { return leave(*this); }
  static Task<Result<void>> look_at(State& self, Wait wait);
  static Task<Result<bool>> still_there(State& self, Client c, Wait wait);
  static Task<Result<int>> take_slot(State& self, Client c, Wait wait);
  static Task<Result<std::int64_t>> read_clock(State& self, Client c, int slot, Wait wait);
  static Task<Result<std::optional<int>>> find_ours(State& self, Client c, Wait wait);
  static Task<Result<void>> reserve(State& self, Client c, int slot, Wait wait);
  static Task<Result<void>> leave(State& self);
  std::int64_t limit_after(std::int64_t stored) const;
  void hold(int slot, std::int64_t stored, std::int64_t limit);
  bool has_time();

  void on_failure(const Error& error) override {
    const std::lock_guard lock(mutex_);
    failure_ = error;
  }
  std::string worker(int slot) const { return child_path(workers_, std::to_string(slot)); }
  void lose() {
    const std::lock_guard lock(mutex_);
    slot_.reset();
    held_.reset();
  }

  const std::string workers_;
  const std::string clocks_;
  SnowflakeOptions options_;
  Watch watch_;
  std::string token_;    // in the data of our node: one session may have several generators
  SessionId session_{};  // that has the slot, or tried to take one

  mutable std::mutex mutex_;  // of what follows
  std::optional<int> slot_;
  Client::Subscription held_;  // while there is a slot; only replies that prove a quorum count
  std::int64_t floor_ms_ = 0;  // from here on ids are ours to give
  std::int64_t limit_ms_ = 0;  // and up to here
  std::int64_t last_ms_ = 0;
  std::int64_t count_ = 0;  // given in that millisecond
  std::optional<Error> failure_;
};

// --- giving ---

// Within a millisecond ids are counted. A clock that has gone back a little stays at the last one until its
// count is used up.
Result<std::int64_t> SnowflakeIds::State::next() {
  const std::lock_guard lock(mutex_);
  if (!slot_ || Clock::now() >= client().valid_until())
    return fail(Errc::kStale, workers_, "this worker has no slot at the moment");
  std::int64_t ms = std::max(options_.wall_ms(), last_ms_);
  if (ms == last_ms_ && count_ == kCountMax)
    return fail(Errc::kStale, workers_, "all ids of this millisecond are used");
  if (ms < floor_ms_)
    return fail(Errc::kStale, workers_, "the clock is behind the time that the slot has used");
  if (ms >= limit_ms_) return fail(Errc::kStale, workers_, "no time is reserved yet");
  if (ms != last_ms_) count_ = 0;
  last_ms_ = ms;
  return (ms - options_.epoch_ms) << (kSlotBits + kCountBits) | std::int64_t{*slot_} << kCountBits | count_++;
}

// --- the slot ---

Task<Result<void>> SnowflakeIds::State::look_at(State& self, Wait wait) {
  if (self.client().state() != ConnectionState::kConnected) co_return Result<void>{};
  const Client c = self.client().bound();
  if (self.token_.empty()) self.token_ = new_token(c);
  auto checking = still_there(self, c, wait);
  const Result<bool> there = co_await std::move(checking);
  if (!there) co_return std::unexpected(there.error());
  if (*there && self.has_time()) co_return Result<void>{};
  if (*there) {
    auto reserving = reserve(self, c, *self.slot(), wait);
    const Result<void> reserved = co_await std::move(reserving);
    if (reserved) self.has_time();
    co_return reserved;
  }
  self.lose();
  self.session_ = c.bound_session();
  auto taking = take_slot(self, c, wait);
  const Result<int> slot = co_await std::move(taking);
  if (!slot) co_return std::unexpected(slot.error());
  auto reserving = reserve(self, c, *slot, wait);
  const Result<void> reserved = co_await std::move(reserving);
  if (reserved) self.again();  // to watch it
  co_return reserved;
}

Task<Result<bool>> SnowflakeIds::State::still_there(State& self, Client c, Wait wait) {
  const std::optional<int> slot = self.slot();
  if (!slot || self.session_ != c.bound_session()) co_return false;
  auto reading = c.get(self.worker(*slot), self.watch_, wait);
  const Result<NodeData> node = co_await std::move(reading);
  if (node) co_return node->stat.ephemeral_owner == c.bound_session() && node->data == self.token_;
  if (node.error() == Errc::kNoNode) co_return false;
  co_return std::unexpected(node.error());
}

// One that an earlier try may have taken without our knowing.
Task<Result<std::optional<int>>> SnowflakeIds::State::find_ours(State& self, Client c, Wait wait) {
  auto asking = c.ephemerals(self.workers_, wait);
  const Result<std::vector<std::string>> paths = co_await std::move(asking);
  if (!paths) co_return std::unexpected(paths.error());
  for (const std::string& path : *paths) {
    if (parent_or_root(path) != self.workers_) continue;
    auto reading = c.get(path, wait);
    const Result<NodeData> node = co_await std::move(reading);
    if (!node && node.error() == Errc::kNoNode) continue;
    if (!node) co_return std::unexpected(node.error());
    const Result<std::int64_t> number = number_of(std::string(base_name(path)), path);
    if (number && node->data == self.token_) co_return static_cast<int>(*number);
  }
  co_return std::optional<int>{};
}

// Up to which millisecond the slot's ids may have been given. One who has the slot meanwhile moves it on,
// which reserve() finds.
Task<Result<std::int64_t>> SnowflakeIds::State::read_clock(State& self, Client c, int slot, Wait wait) {
  const std::string path = child_path(self.clocks_, std::to_string(slot));
  auto reading = c.get(path, wait);
  const Result<NodeData> node = co_await std::move(reading);
  if (!node && node.error() == Errc::kNoNode) co_return 0;
  if (!node) co_return std::unexpected(node.error());
  co_return number_of(node->data, path);
}

// Beginning at another place each time, so that those who start together do not go for the same ones. A slot
// whose last owner's clock was far ahead is left to time.
Task<Result<int>> SnowflakeIds::State::take_slot(State& self, Client c, Wait wait) {
  auto syncing = c.sync("/", wait);
  const Result<void> synced = co_await std::move(syncing);
  if (!synced) co_return std::unexpected(synced.error());
  auto finding = find_ours(self, c, wait);
  const Result<std::optional<int>> ours = co_await std::move(finding);
  if (!ours) co_return std::unexpected(ours.error());
  if (*ours) co_return **ours;
  auto listing = c.children(self.workers_, wait);
  const Result<Children> taken = co_await std::move(listing);
  if (!taken && taken.error() != Errc::kNoNode) co_return std::unexpected(taken.error());
  const auto first = static_cast<int>(static_cast<std::uint64_t>(raw(c.bound_session())) %
                                      static_cast<std::uint64_t>(self.options_.slots));
  bool all_ahead = false;
  for (int i = 0; i < self.options_.slots; ++i) {
    const int slot = (first + i) % self.options_.slots;
    if (taken && std::ranges::find(taken->names, std::to_string(slot)) != taken->names.end()) continue;
    CO_TRY_ASSIGN(const std::int64_t stored, read_clock(self, c, slot, wait));
    if (stored > self.options_.wall_ms() + self.options_.patience.count()) {
      all_ahead = true;
      continue;
    }
    auto creating =
        c.create(self.worker(slot), self.token_, {.mode = CreateMode::kEphemeral, .parents = true}, wait);
    const Result<Created> created = co_await std::move(creating);
    if (created) co_return slot;
    if (created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
  }
  if (all_ahead)
    co_return fail(Errc::kStale, self.clocks_, "the clock is behind the times that all free slots have used");
  co_return fail(Errc::kTooMany, self.workers_, "all slots are taken");
}

// Reserves time for the slot. A new owner begins after the time that was reserved before.
Task<Result<void>> SnowflakeIds::State::reserve(State& self, Client c, int slot, Wait wait) {
  const std::string path = child_path(self.clocks_, std::to_string(slot));
  for (;;) {
    auto reading = read_now(c, path, wait);
    const Result<std::optional<NodeData>> node = co_await std::move(reading);
    if (!node) co_return std::unexpected(node.error());
    const Result<std::int64_t> stored = *node ? number_of((*node)->data, path) : Result<std::int64_t>(0);
    if (!stored) co_return std::unexpected(stored.error());
    const std::int64_t limit = self.limit_after(*stored);
    std::vector<Op> ops;
    ops.push_back(Op::check(self.worker(slot)));
    ops.push_back(*node ? Op::set(path, std::to_string(limit), (*node)->stat.version)
                        : Op::create(path, std::to_string(limit)));
    auto writing = c.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> written = co_await std::move(writing);
    if (written) {
      self.hold(slot, *stored, limit);
      co_return Result<void>{};
    }
    const bool no_clocks = written.error() == Errc::kNoNode && written.error().op_index == 1 && !*node;
    if (!no_clocks) co_return std::unexpected(written.error());
    auto making = c.create(self.clocks_, {}, {.parents = true}, wait);
    const Result<Created> made = co_await std::move(making);
    if (!made && made.error() != Errc::kNodeExists) co_return std::unexpected(made.error());
  }
}

std::int64_t SnowflakeIds::State::limit_after(std::int64_t stored) const {
  const std::int64_t now = options_.wall_ms();
  const std::int64_t ahead = 2 * options_.period.count();
  return slot() ? std::max(stored, now + ahead) : std::max(stored, now) + ahead;
}

void SnowflakeIds::State::hold(int slot, std::int64_t stored, std::int64_t limit) {
  const std::lock_guard lock(mutex_);
  if (!slot_) {
    floor_ms_ = stored;
    held_ = client().hold_session();
  }
  slot_ = slot;
  limit_ms_ = limit;
  failure_.reset();
}

// A look is due when half of what is reserved has passed, or when the floor is reached.
bool SnowflakeIds::State::has_time() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = options_.wall_ms();
  const std::int64_t left = limit_ms_ - now - options_.period.count();
  const std::int64_t behind = floor_ms_ - now;
  wake_at(Clock::now() + std::chrono::milliseconds(std::max<std::int64_t>(1, behind > 0 ? behind : left)));
  return left > 0;
}

Task<Result<void>> SnowflakeIds::State::leave(State& self) {
  const Client c = self.client().bound();
  self.watch_.reset();
  self.lose();
  if (self.session_ == SessionId{} || self.session_ != c.bound_session()) co_return Result<void>{};
  for (;;) {
    auto syncing = c.sync("/");
    const Result<void> synced = co_await std::move(syncing);
    if (!synced && synced.error().error_class() == ErrorClass::kRecoverable) continue;
    if (!synced) co_return synced;
    auto finding = find_ours(self, c, Wait{});
    const Result<std::optional<int>> ours = co_await std::move(finding);
    if (!ours && ours.error().error_class() == ErrorClass::kRecoverable) continue;
    if (!ours) co_return std::unexpected(ours.error());
    if (!*ours) co_return Result<void>{};
    auto removing = c.remove_surely(self.worker(**ours));
    co_return co_await std::move(removing);
  }
}

SnowflakeIds::SnowflakeIds(Client client, std::string path, SnowflakeOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(path), std::move(options))) {}
SnowflakeIds::~SnowflakeIds() {
  if (state_) state_->end();
}
SnowflakeIds& SnowflakeIds::operator=(SnowflakeIds&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Task<Result<void>> SnowflakeIds::start(Wait wait) {
  state_->begin();
  return Loop::until(state_, [state = state_.get()] { return state->is_ready(); }, std::move(wait));
}
Result<std::int64_t> SnowflakeIds::next() { return state_->next(); }
std::optional<int> SnowflakeIds::slot() const { return state_->slot(); }

}  // namespace drover::recipes
