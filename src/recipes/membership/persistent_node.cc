// SPDX-License-Identifier: Apache-2.0
//
// Reads the node; then creates it, waits for its owner to go, or writes new data. After a lost reply the next
// read shows whether it was applied: the owner shows a create, the data a write.
#include "drover/recipes/persistent_node.h"

#include <mutex>
#include <set>
#include <utility>

#include "base/child_path.h"
#include "recipes/common/loop.h"
#include "recipes/common/steps.h"

namespace drover::recipes {
namespace {

using OnConflict = PersistentNodeOptions::OnConflict;

}  // namespace

class PersistentNode::State final : public Loop {
 public:
  State(Client c, std::string path, std::string data, PersistentNodeOptions options)
      : Loop(std::move(c)), asked_(std::move(path)), options_(std::move(options)), data_(std::move(data)) {
    if (options_.ttl.count() > 0) options_.mode = CreateMode::kContainer;
    if (!options_.protect && !is_sequential(options_.mode)) path_ = asked_;
    watch_ = new_watch();
  }

  void set_data(std::string data) {
    const std::lock_guard lock(mutex_);
    data_ = std::move(data);
    ++wanted_;
    scheduler().post([self = shared_from_this()] { self->again(); });
  }
  std::string data() const {
    const std::lock_guard lock(mutex_);
    return data_;
  }
  bool is_there() const {
    const std::lock_guard lock(mutex_);
    return there_;
  }
  std::string path() const {
    const std::lock_guard lock(mutex_);
    return path_;
  }
  std::optional<Error> failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  // The error when a wait ends: why it waited, if known.
  Error why_not(Error error) const {
    const std::lock_guard lock(mutex_);
    return error == Errc::kDeadline && in_the_way_ ? *in_the_way_ : error;
  }
  std::uint64_t wanted() const {
    const std::lock_guard lock(mutex_);
    return wanted_;
  }
  // The node exists with the data wanted then.
  Result<bool> is_done(std::uint64_t wanted) const {
    const std::lock_guard lock(mutex_);
    if (there_ && written_ >= wanted) return true;
    if (is_ending()) return fail(Errc::kClosed, asked_);
    if (failure_) return std::unexpected(*failure_);
    return false;
  }
  Result<bool> is_removed() const {
    if (removed_ && removal_failure_) return std::unexpected(*removal_failure_);
    return removed_;
  }

 private:
  struct Desired {
    std::string data;
    std::uint64_t number;
  };

  Task<Result<void>> look(Wait wait) override { return look_at(*this, std::move(wait)); }
  Task<Result<void>> finish() override { return remove(*this); }
  static Task<Result<void>> look_at(State& self, Wait wait);
  static Task<Result<void>> make_first(State& self, Client c, Wait wait);
  static Task<Result<void>> make(State& self, Client c, Wait wait);
  static Task<Result<void>> write(State& self, Client c, Stat stat, std::string present, Wait wait);
  static Task<Result<void>> touch(State& self, Wait wait);
  static Task<Result<void>> remove(State& self);
  static Task<Result<void>> remove_ours(State& self, Client c, std::string path);

  void on_state(const StateEvent& event) override {
    if (event.state != ConnectionState::kConnected) set_there(false, written_);
  }
  void on_failure(const Error& error) override { set_failure(error); }

  bool is_ephemeral_mode() const { return is_ephemeral(options_.mode); }
  // Operations on an ephemeral node are bound to the session that should own it.
  Client handle() const { return is_ephemeral_mode() ? client().bound() : client(); }
  bool is_ours(const Client& c, const Stat& stat) const {
    return is_ephemeral_mode() ? stat.ephemeral_owner == c.bound_session() : !stat.is_ephemeral();
  }
  CreateOptions create_options(CreateMode mode) const {
    return {.mode = mode, .acl = options_.acl, .parents = true};
  }

  Desired desired() const {
    const std::lock_guard lock(mutex_);
    return {data_, wanted_};
  }
  void set_there(bool there, std::uint64_t written) {
    const std::lock_guard lock(mutex_);
    there_ = there;
    written_ = written;
    if (!there) return;
    failure_.reset();
    in_the_way_.reset();
  }
  void set_failure(const Error& error) {
    const std::lock_guard lock(mutex_);
    failure_ = error;
  }
  void set_in_the_way(const Error& error) {
    const std::lock_guard lock(mutex_);
    in_the_way_ = error;
  }
  void set_path(std::string path) {
    const std::lock_guard lock(mutex_);
    path_ = std::move(path);
  }
  void on_foreign(const Stat& stat);

  const std::string asked_;
  PersistentNodeOptions options_;
  Watch watch_;
  std::set<SessionId> sessions_;  // in which we may have made it, or have found it to be ours
  bool new_ = true;               // it was made, or found, and has not been written since
  bool removed_ = false;
  std::optional<Error> removal_failure_;
  Clock::time_point touch_at_ = Clock::time_point::min();
  Zxid foreign_{};  // somebody else's node that is in the way, and how long it may belong to a dead session
  Clock::time_point foreign_until_;

  mutable std::mutex mutex_;  // of what follows
  std::string path_;          // empty: it has no name yet
  std::string data_;
  std::uint64_t wanted_ = 1;   // how often data was set
  std::uint64_t written_ = 0;  // the number of what is in the tree
  bool there_ = false;
  std::optional<Error> failure_;
  std::optional<Error> in_the_way_;  // somebody else's node, which may still go
};

Task<Result<void>> PersistentNode::State::look_at(State& self, Wait wait) {
  if (self.client().state() != ConnectionState::kConnected) co_return Result<void>{};
  const Client c = self.handle();
  if (self.path().empty()) {
    auto making = make_first(self, c, wait);
    const Result<void> made = co_await std::move(making);
    if (!made) co_return made;
  }
  for (;;) {
    auto reading = c.get(self.path(), self.watch_, wait);
    const Result<NodeData> node = co_await std::move(reading);
    if (!node && node.error() == Errc::kNoNode) {
      self.set_there(false, self.written_);
      auto making = make(self, c, wait);
      const Result<void> made = co_await std::move(making);
      if (!made) co_return made;
      continue;  // to see it, and to watch it
    }
    if (!node) co_return std::unexpected(node.error());
    if (!self.is_ours(c, node->stat)) {
      self.on_foreign(node->stat);
      co_return Result<void>{};
    }
    self.sessions_.insert(c.bound_session());
    auto writing = write(self, c, node->stat, node->data, wait);
    const Result<void> written = co_await std::move(writing);
    if (!written && (written.error() == Errc::kBadVersion || written.error() == Errc::kNoNode)) continue;
    if (!written) co_return written;
    break;
  }
  if (self.options_.ttl.count() == 0) co_return Result<void>{};
  auto touching = touch(self, wait);
  co_return co_await std::move(touching);
}

// Chooses the unique name of the node.
Task<Result<void>> PersistentNode::State::make_first(State& self, Client c, Wait wait) {
  const Desired desired = self.desired();
  auto creating =
      c.create_protected(self.asked_, desired.data, self.create_options(self.options_.mode), wait);
  const Result<Created> created = co_await std::move(creating);
  if (!created) co_return std::unexpected(created.error());
  self.sessions_.insert(c.bound_session());
  self.set_path(created->path);
  if (self.options_.mode == CreateMode::kEphemeralSequential) self.options_.mode = CreateMode::kEphemeral;
  if (self.options_.mode == CreateMode::kPersistentSequential) self.options_.mode = CreateMode::kPersistent;
  co_return Result<void>{};
}

Task<Result<void>> PersistentNode::State::make(State& self, Client c, Wait wait) {
  self.sessions_.insert(c.bound_session());
  self.new_ = true;
  const Desired desired = self.desired();
  auto creating = c.create(self.path(), desired.data, self.create_options(self.options_.mode), wait);
  const Result<Created> created = co_await std::move(creating);
  if (created || created.error() == Errc::kNodeExists) co_return Result<void>{};
  co_return std::unexpected(created.error());
}

Task<Result<void>> PersistentNode::State::write(State& self, Client c, Stat stat, std::string present,
                                                Wait wait) {
  const Desired desired = self.desired();
  const bool due = self.new_ || self.written_ < desired.number;
  if (due && present != desired.data) {
    auto setting = c.set(self.path(), desired.data, stat.version, wait);
    const Result<Stat> set = co_await std::move(setting);
    if (!set) co_return std::unexpected(set.error());
  }
  self.new_ = false;
  self.set_there(true, desired.number);
  co_return Result<void>{};
}

// The server deletes the node of our own earlier session, and the watch reports it. The same holds for a node
// that a crash of this process left behind, which we cannot distinguish from another client's: a node that
// outlives the session timeout belongs to a live process.
void PersistentNode::State::on_foreign(const Stat& stat) {
  set_there(false, written_);
  new_ = true;
  if (sessions_.contains(stat.ephemeral_owner) || options_.on_conflict == OnConflict::kWait) return;
  if (foreign_ != stat.czxid) {
    foreign_ = stat.czxid;
    foreign_until_ = Clock::now() + 2 * client().session_timeout();
  }
  const Error conflict{Errc::kIdConflict, Applied::kNo, path(), "another session owns the node"};
  set_in_the_way(conflict);
  if (stat.is_ephemeral() && Clock::now() < foreign_until_) return wake_at(foreign_until_);
  set_failure(conflict);
}

Task<Result<void>> PersistentNode::State::touch(State& self, Wait wait) {
  const std::string path = child_path(self.path(), "touch");
  if (Clock::now() >= self.touch_at_) {
    auto setting = self.client().set(path, {}, Version::kAny, wait);
    const Result<Stat> set = co_await std::move(setting);
    if (!set && set.error() != Errc::kNoNode) co_return std::unexpected(set.error());
    if (!set) {
      CreateOptions options = self.create_options(CreateMode::kPersistentTtl);
      options.ttl = self.options_.ttl;
      auto creating = self.client().create(path, {}, options, wait);
      const Result<Created> created = co_await std::move(creating);
      if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
    }
    self.touch_at_ = Clock::now() + self.options_.ttl / 2;
  }
  self.wake_at(self.touch_at_);
  co_return Result<void>{};
}

// An abandoned create may still be applied; sync waits for it.
Task<Result<void>> PersistentNode::State::remove_ours(State& self, Client c, std::string path) {
  CO_TRY(until_answered(c, [&] { return c.sync(path); }));
  CO_TRY_ASSIGN(const std::optional<Stat> stat, until_answered(c, [&] { return c.exists(path); }));
  if (!stat || !self.is_ours(c, *stat)) co_return Result<void>{};
  if (self.options_.ttl.count() > 0) CO_TRY(c.remove_surely(child_path(path, "touch")));
  auto removing = c.remove_surely(path, stat->czxid);
  co_return co_await std::move(removing);
}

// An ephemeral node is removed with its session.
Task<Result<void>> PersistentNode::State::remove(State& self) {
  const Client c = self.handle();
  const std::string path = self.path();
  self.watch_.reset();
  if (!path.empty() && self.sessions_.contains(c.bound_session())) {
    auto removing = remove_ours(self, c, path);
    const Result<void> removed = co_await std::move(removing);
    const bool over =
        !removed && (removed.error() == Errc::kSessionExpired || removed.error() == Errc::kClosed);
    if (!removed && !(over && self.is_ephemeral_mode())) self.removal_failure_ = removed.error();
  }
  self.removed_ = true;
  self.set_there(false, self.written_);
  co_return Result<void>{};
}

// --- PersistentNode ---

PersistentNode::PersistentNode(Client client, std::string path, std::string data,
                               PersistentNodeOptions options)
    : state_(
          std::make_shared<State>(std::move(client), std::move(path), std::move(data), std::move(options))) {}

PersistentNode::~PersistentNode() {
  if (state_) state_->end();
}
PersistentNode& PersistentNode::operator=(PersistentNode&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

namespace {

template <class State>
Task<Result<std::string>> path_when(Task<Result<void>> done, std::shared_ptr<State> state) {
  const Result<void> result = co_await std::move(done);
  if (!result) co_return std::unexpected(state->why_not(result.error()));
  co_return state->path();
}

}  // namespace

Task<Result<std::string>> PersistentNode::start(Wait wait) {
  state_->begin();
  auto done = Loop::until(state_, [state = state_.get()] { return state->is_done(0); }, std::move(wait));
  return path_when(std::move(done), state_);
}

Task<Result<void>> PersistentNode::flush(Wait wait) {
  const std::uint64_t wanted = state_->wanted();
  return Loop::until(
      state_, [state = state_.get(), wanted] { return state->is_done(wanted); }, std::move(wait));
}

Task<Result<void>> PersistentNode::close(Wait wait) {
  state_->end();
  return Loop::until(state_, [state = state_.get()] { return state->is_removed(); }, std::move(wait));
}

void PersistentNode::set_data(std::string data) { state_->set_data(std::move(data)); }
std::string PersistentNode::data() const { return state_->data(); }
bool PersistentNode::is_there() const { return state_->is_there(); }
std::optional<std::string> PersistentNode::path() const {
  std::string path = state_->path();
  if (path.empty()) return std::nullopt;
  return path;
}
std::optional<Error> PersistentNode::failure() const { return state_->failure(); }

}  // namespace drover::recipes
