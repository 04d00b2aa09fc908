// SPDX-License-Identifier: Apache-2.0
//
// Reads, computes, and writes if the version is unchanged. After a lost reply there are three cases: the
// version is still the one that was read, so it was not applied; our mark has its number, so it was; or it is
// unknown. Equal bytes prove nothing: two clients that add one to five both write six.
#include "drover/recipes/atomic_value.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/child_path.h"
#include "drover/recipes/mutex.h"
#include "recipes/common/loop.h"
#include "recipes/common/settle.h"
#include "recipes/common/steps.h"
#include "recipes/common/token.h"

namespace drover::recipes {
namespace {

using std::chrono::milliseconds;

// Removes marks that may still be created.
Task<Result<void>> remove_marks(Client client, std::vector<std::string> paths) {
  for (const std::string& path : paths) {
    auto syncing = client.sync(path);
    co_await std::move(syncing);
    auto removing = client.remove_surely(path);
    co_await std::move(removing);
  }
  co_return Result<void>{};
}

// Marks of processes that ended without removing them. A mark in use was written recently; an owner that
// slept for longer finds its mark gone and creates another one.
Task<Result<void>> remove_old_marks(Client client, std::string root, milliseconds age, std::string newest) {
  CO_TRY_ASSIGN(const NodeData reference, client.get(newest));  // The servers' clock, not ours.
  CO_TRY_ASSIGN(const Children marks, client.children(root));
  for (const std::string& name : marks.names) {
    const std::string path = child_path(root, name);
    CO_TRY_ASSIGN(const std::optional<Stat> stat, client.exists(path));
    if (!stat || stat->mtime_ms + age.count() > reference.stat.mtime_ms) continue;
    auto removing = client.remove(path, stat->version);
    const Result<void> removed = co_await std::move(removing);
    const bool overtaken =
        !removed && (removed.error() == Errc::kNoNode || removed.error() == Errc::kBadVersion);
    if (!removed && !overtaken) co_return removed;
  }
  co_return Result<void>{};
}

}  // namespace

class AtomicBytes::State {
 public:
  State(Client c, std::string p, AtomicOptions o)
      : client(std::move(c)), path(std::move(p)), marks_root(path + ".ops"), options(std::move(o)) {}
  ~State() {
    if (!marks.empty()) start(remove_marks(client, std::move(marks)));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The mark for one change at a time: a node that counts the changes made with it.
  struct Slot {
    std::string path;
    std::uint64_t number = 0;
    bool exists = false;
  };
  // An unused slot; it is put back after use. A slot whose change was abandoned is never put back.
  Slot take_slot() {
    if (!free_slots.empty()) {
      Slot slot = std::move(free_slots.back());
      free_slots.pop_back();
      return slot;
    }
    Slot slot{child_path(marks_root, new_token(client))};
    marks.push_back(slot.path);
    return slot;
  }

  void put_back(Slot slot) {
    if (!std::exchange(has_cleared, true))
      start(remove_old_marks(client, marks_root, options.marks_kept, slot.path));
    free_slots.push_back(std::move(slot));
  }

  static Task<Result<std::string>> update(std::shared_ptr<State> self, Change change, Wait wait);
  static Task<Result<Bytes>> get(std::shared_ptr<State> self, Wait wait);

  const Client client;
  const std::string path;
  const std::string marks_root;
  const AtomicOptions options;

 private:
  enum class Outcome : std::uint8_t { kDone, kTryAgain };
  using Present = std::optional<NodeData>;

  static Task<Result<Outcome>> write(State& self, Present present, std::string data, Slot& slot, Wait wait);
  static Task<Result<Outcome>> find_out(State& self, Error lost, Present present, Slot& slot, Wait wait);
  static Task<Result<void>> make_parents(State& self, Wait wait);
  Task<Result<void>> wait_for_turn(int tries, Guard& turn, Wait wait);
  Task<Result<void>> step_aside(int tries, Wait wait);
  static Task<Result<void>> get_in_line(Mutex mutex, Guard& turn, Wait wait);
  std::vector<Op> ops_for(const Present& present, std::string data, const Slot& slot) const;

  std::vector<std::string> marks;  // all that may exist
  std::vector<Slot> free_slots;
  bool has_cleared = false;
  std::uint64_t random = 0;
};

Task<Result<AtomicBytes::Bytes>> AtomicBytes::State::get(std::shared_ptr<State> self, Wait wait) {
  auto reading = self->client.get(self->path, wait);
  Result<NodeData> node = co_await std::move(reading);
  if (node) co_return Bytes(std::move(node->data));
  if (node.error() == Errc::kNoNode) co_return Bytes{};
  co_return std::unexpected(node.error());
}

Task<Result<std::string>> AtomicBytes::State::update(std::shared_ptr<State> self, Change change, Wait wait) {
  auto there = self->client.scheduler().enter();
  co_await there;
  Slot slot;
  Guard turn;  // It goes with this frame, however it ends.
  for (int tries = 1;; ++tries) {
    auto reading = self->client.get(self->path, wait);
    Result<NodeData> node = co_await std::move(reading);
    if (!node && node.error().error_class() == ErrorClass::kRecoverable) continue;
    if (!node && node.error() != Errc::kNoNode) co_return std::unexpected(node.error());
    const Present present = node ? Present(*std::move(node)) : Present{};
    const Result<std::string> data = change(present ? Bytes(present->data) : Bytes{});
    if (!data) co_return std::unexpected(data.error());
    if (self->options.exactly_once && slot.path.empty()) slot = self->take_slot();
    auto writing = write(*self, present, *data, slot, wait);
    const Result<Outcome> outcome = co_await std::move(writing);
    if (!outcome) co_return std::unexpected(outcome.error());
    if (*outcome == Outcome::kDone) {
      if (self->options.exactly_once) self->put_back(std::move(slot));
      co_return *data;
    }
    auto waiting = self->wait_for_turn(tries, turn, wait);
    const Result<void> waited = co_await std::move(waiting);
    if (!waited) co_return std::unexpected(waited.error());
  }
}

// Called before a retry. The holder of the lock need not back off. A guard that was lost with its session
// does no harm, since each change is checked, but it no longer excludes others.
Task<Result<void>> AtomicBytes::State::wait_for_turn(int tries, Guard& turn, Wait wait) {
  if (options.lock_path.empty() || tries < options.tries_before_lock)
    return step_aside(tries, std::move(wait));
  return get_in_line(Mutex(client, options.lock_path), turn, std::move(wait));
}

Task<Result<void>> AtomicBytes::State::get_in_line(Mutex mutex, Guard& turn, Wait wait) {
  if (turn && turn.is_held()) co_return Result<void>{};
  turn = Guard{};
  auto acquiring = mutex.acquire(std::move(wait));
  Result<Guard> guard = co_await std::move(acquiring);
  if (!guard) co_return std::unexpected(guard.error());
  turn = *std::move(guard);
  co_return Result<void>{};
}

Task<Result<void>> AtomicBytes::State::step_aside(int tries, Wait wait) {
  if (random == 0) random = 0x9E3779B97F4A7C15ull ^ static_cast<std::uint64_t>(raw(client.session()));
  const auto until = Clock::now() + pause_after_conflict(tries, random);
  return client.scheduler().sleep(Wait::until(std::min(until, wait.deadline), std::move(wait.stop)));
}

std::vector<Op> AtomicBytes::State::ops_for(const Present& present, std::string data,
                                            const Slot& slot) const {
  std::vector<Op> ops;
  ops.push_back(present ? Op::set(path, std::move(data), present->stat.version)
                        : Op::create(path, std::move(data)));
  if (slot.path.empty()) return ops;
  const std::string number = std::to_string(slot.number);
  ops.push_back(slot.exists ? Op::set(slot.path, number) : Op::create(slot.path, number));
  return ops;
}

// One atomic try.
Task<Result<AtomicBytes::State::Outcome>> AtomicBytes::State::write(State& self, Present present,
                                                                    std::string data, Slot& slot, Wait wait) {
  ++slot.number;
  auto writing = self.client.multi(self.ops_for(present, std::move(data), slot), wait);
  const Result<std::vector<OpResult>> written = co_await std::move(writing);
  if (written) {
    slot.exists = true;
    co_return Outcome::kDone;
  }
  const Error& error = written.error();
  if (error.maybe_applied() && error.error_class() == ErrorClass::kRecoverable) {
    auto finding = find_out(self, error, present, slot, wait);
    co_return co_await std::move(finding);
  }
  if (error.is_retryable()) co_return Outcome::kTryAgain;
  if (error.op_index == 1 && slot.exists && error == Errc::kNoNode) {
    slot.exists = false;  // Another client has removed the marks.
    co_return Outcome::kTryAgain;
  }
  if (error == Errc::kNoNode && (!present || error.op_index == 1)) {
    auto making = make_parents(self, wait);
    const Result<void> made = co_await std::move(making);
    if (!made) co_return std::unexpected(made.error());
    co_return Outcome::kTryAgain;
  }
  const bool overtaken = error == Errc::kBadVersion || error == Errc::kNodeExists || error == Errc::kNoNode;
  if (overtaken && error.op_index <= 0) co_return Outcome::kTryAgain;
  co_return std::unexpected(error);
}

Task<Result<AtomicBytes::State::Outcome>> AtomicBytes::State::find_out(State& self, Error lost,
                                                                       Present present, Slot& slot,
                                                                       Wait wait) {
  const std::string where = slot.path.empty() ? self.path : slot.path;
  auto reading = read_now(self.client, where, wait);
  const Result<std::optional<NodeData>> now = co_await std::move(reading);
  if (!now) co_return std::unexpected(lost);
  if (!slot.path.empty()) {
    slot.exists = now->has_value();
    const bool done = *now && (*now)->data == std::to_string(slot.number);
    co_return done ? Outcome::kDone : Outcome::kTryAgain;
  }
  const bool untouched = present ? *now && (*now)->stat.mzxid == present->stat.mzxid : !*now;
  if (untouched) co_return Outcome::kTryAgain;
  co_return std::unexpected(lost);
}

// A node without data counts as not set: the first change sets it.
Task<Result<void>> AtomicBytes::State::make_parents(State& self, Wait wait) {
  const bool marked = self.options.exactly_once;
  auto parent = marked ? self.marks_root : std::string(parent_or_root(self.path));
  if (parent == "/") co_return Result<void>{};
  auto making = self.client.create(parent, {}, {.mode = CreateMode::kContainer, .parents = true}, wait);
  const Result<Created> made = co_await std::move(making);
  if (made || made.error() == Errc::kNodeExists || made.error().error_class() == ErrorClass::kRecoverable) {
    co_return Result<void>{};
  }
  co_return std::unexpected(made.error());
}

AtomicBytes::AtomicBytes(Client client, std::string path, AtomicOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(path), std::move(options))) {}

Task<Result<std::string>> AtomicBytes::update(Change change, Wait wait) const {
  return State::update(state_, std::move(change), std::move(wait));
}
Task<Result<AtomicBytes::Bytes>> AtomicBytes::get(Wait wait) const {
  return State::get(state_, std::move(wait));
}

}  // namespace drover::recipes
