// SPDX-License-Identifier: Apache-2.0
//
// First the watch, then a walk through the tree. A node that appears, changes or goes after the walk has
// passed it makes an event, and is read again. Reads are answered in the order in which they were asked, and
// never by a server that has seen less; so whatever answer comes last is the newest there is.
#include "drover/recipes/tree_cache.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/child_path.h"
#include "recipes/common/loop.h"

namespace drover::recipes {
namespace {

constexpr std::size_t kReadsAtOnce = 128;

// Not there, or not for us.
bool is_absent(const Error& error) { return error == Errc::kNoNode || error == Errc::kNoAuth; }

using OnEvent = std::function<void(const TreeEvent&)>;

}  // namespace

class TreeCache::State final : public Loop {
 public:
  State(Client c, std::string root, TreeCacheOptions options)
      : Loop(std::move(c)), root_(std::move(root)), options_(std::move(options)) {}

  std::optional<NodeData> find(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(path);
    if (found == nodes_.end()) return std::nullopt;
    return found->second;
  }
  std::vector<std::string> children(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    return names_below(path);
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return nodes_.size();
  }
  bool is_fresh() const {
    const std::lock_guard lock(mutex_);
    return fresh_;
  }
  Clock::duration staleness() const {
    const std::lock_guard lock(mutex_);
    return fresh_ ? Clock::duration::zero() : Clock::now() - fresh_until_;
  }

  // --- on the executor ---
  Result<bool> is_initialized() const {
    if (!initialized_ && failure_) return std::unexpected(*failure_);
    return initialized_;
  }
  void add_stream(StreamSource<TreeEvent> source) {
    for (const auto& [path, node] : nodes_) source.push({TreeEvent::Kind::kCreated, path, node});
    if (initialized_) source.push({TreeEvent::Kind::kInitialized});
    streams_.push_back(std::move(source));
  }
  std::uint64_t add_listener(OnEvent listener) {
    listeners_.emplace(++last_listener_, std::move(listener));
    return last_listener_;
  }
  void remove_listener(std::uint64_t id) { listeners_.erase(id); }

 private:
  using Nodes = std::map<std::string, NodeData, std::less<>>;

  Task<Result<void>> look(Wait wait) override { return look_at(*this, std::move(wait)); }
  static Task<Result<void>> look_at(State& self, Wait wait);
  static Task<Result<void>> walk(State& self, Wait wait);
  static Task<Result<void>> read_changed(State& self, Wait wait);
  static Task<Result<std::vector<std::string>>> read_all(State& self, std::vector<std::string> paths,
                                                         Wait wait);

  void on_state(const StateEvent& event) override {
    connected_ = event.state == ConnectionState::kConnected || event.state == ConnectionState::kReadOnly;
    if (connected_) resync_ = true;
    set_fresh(false);
  }
  void on_failure(const Error& error) override { failure_ = error; }
  void on_end() override {
    watch_.reset();
    for (auto& stream : streams_) stream.close();
    streams_.clear();
    listeners_.clear();
  }
  void on_watch(const WatchEvent& event) {
    if (event.type == EventType::kWatchLost) {
      armed_ = false;
      resync_ = true;
    } else if (is_reached(event.path)) {
      changed_.insert(event.path);
    }
    again();
  }
  bool is_wanted(std::string_view path) const { return !options_.filter || options_.filter(path); }
  // Nothing between it and the root is left out.
  bool is_reached(std::string_view path) const {
    for (; path.size() > root_.size(); path = parent_or_root(path)) {
      if (!is_wanted(path)) return false;
    }
    return true;
  }

  void arm() {
    watch_ = Watch([weak = weak_from_this()](const WatchEvent& event) {
      if (const auto loop = weak.lock()) static_cast<State&>(*loop).on_watch(event);
    });
  }
  void set_fresh(bool fresh) {
    const std::lock_guard lock(mutex_);
    if (fresh_ && !fresh) fresh_until_ = Clock::now();
    fresh_ = fresh;
  }

  void apply(const std::string& path, Result<NodeData> node);
  void apply_children(const std::string& path, const std::vector<std::string>& names);
  void forget(const std::string& path);
  std::vector<std::string> names_below(std::string_view path) const;
  void publish(const TreeEvent& event);

  const std::string root_;
  const TreeCacheOptions options_;
  Watch watch_;
  bool connected_ = false;
  bool armed_ = false;
  bool resync_ = true;
  bool initialized_ = false;
  std::optional<Error> failure_;   // of the last look, if time does not cure it
  std::set<std::string> changed_;  // paths to read again
  std::vector<StreamSource<TreeEvent>> streams_;
  std::map<std::uint64_t, OnEvent> listeners_;
  std::uint64_t last_listener_ = 0;

  mutable std::mutex mutex_;  // of what follows, which is written on the executor only
  Nodes nodes_;
  bool fresh_ = false;
  Clock::time_point fresh_until_ = Clock::now();  // while it is not
};

// --- looking ---

Task<Result<void>> TreeCache::State::look_at(State& self, Wait wait) {
  if (!self.armed_) {
    self.arm();
    auto watching = self.client().add_watch(self.root_, WatchMode::kPersistentRecursive, self.watch_, wait);
    const Result<void> watched = co_await std::move(watching);
    if (!watched) co_return watched;
    self.armed_ = true;
    self.resync_ = true;
  }
  if (self.resync_) {
    self.resync_ = false;
    auto walking = walk(self, wait);
    const Result<void> walked = co_await std::move(walking);
    if (!walked) self.resync_ = true;
    if (!walked) co_return walked;
  }
  auto reading = read_changed(self, wait);
  const Result<void> read = co_await std::move(reading);
  if (read) self.failure_.reset();
  if (read && self.connected_ && !self.resync_ && self.armed_) self.set_fresh(true);
  co_return read;
}

Task<Result<void>> TreeCache::State::walk(State& self, Wait wait) {
  std::deque<std::string> ahead{self.root_};
  while (!ahead.empty()) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(ahead.size(), kReadsAtOnce));
    std::vector<std::string> paths(ahead.begin(), ahead.begin() + count);
    ahead.erase(ahead.begin(), ahead.begin() + count);
    auto reading = read_all(self, std::move(paths), wait);
    const Result<std::vector<std::string>> below = co_await std::move(reading);
    if (!below) co_return std::unexpected(below.error());
    ahead.insert(ahead.end(), below->begin(), below->end());
  }
  const bool first = !std::exchange(self.initialized_, true);
  self.publish({first ? TreeEvent::Kind::kInitialized : TreeEvent::Kind::kResynced});
  co_return Result<void>{};
}

// Reads these nodes and the names of their children, whose paths it gives.
Task<Result<std::vector<std::string>>> TreeCache::State::read_all(State& self, std::vector<std::string> paths,
                                                                  Wait wait) {
  std::vector<Task<Result<NodeData>>> gets;
  std::vector<Task<Result<Children>>> lists;
  for (const std::string& path : paths) gets.push_back(self.client().get(path, wait));
  for (const std::string& path : paths) lists.push_back(self.client().children(path, wait));
  auto getting = when_all(std::move(gets));
  std::vector<Result<NodeData>> nodes = co_await std::move(getting);
  auto listing = when_all(std::move(lists));
  const std::vector<Result<Children>> names = co_await std::move(listing);

  std::vector<std::string> below;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!nodes[i] && !is_absent(nodes[i].error())) co_return std::unexpected(nodes[i].error());
    if (!names[i] && !is_absent(names[i].error())) co_return std::unexpected(names[i].error());
    self.apply(paths[i], std::move(nodes[i]));
    if (!names[i]) {
      self.forget(paths[i]);
      continue;
    }
    self.apply_children(paths[i], names[i]->names);
    for (const std::string& name : names[i]->names) {
      std::string path = child_path(paths[i], name);
      if (self.is_wanted(path)) below.push_back(std::move(path));
    }
  }
  co_return below;
}

// Changes that are reported during these reads are read in the next iteration.
Task<Result<void>> TreeCache::State::read_changed(State& self, Wait wait) {
  while (!self.changed_.empty()) {
    std::vector<std::string> paths;
    while (!self.changed_.empty() && paths.size() < kReadsAtOnce) {
      paths.push_back(std::move(self.changed_.extract(self.changed_.begin()).value()));
    }
    std::vector<Task<Result<NodeData>>> gets;
    for (const std::string& path : paths) gets.push_back(self.client().get(path, wait));
    auto getting = when_all(std::move(gets));
    std::vector<Result<NodeData>> nodes = co_await std::move(getting);
    std::optional<Error> failed;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (nodes[i] || is_absent(nodes[i].error())) {
        self.apply(paths[i], std::move(nodes[i]));
      } else {
        failed = nodes[i].error();
        self.changed_.insert(paths[i]);
      }
    }
    if (failed) co_return std::unexpected(*failed);
  }
  co_return Result<void>{};
}

// --- the store ---

void TreeCache::State::apply(const std::string& path, Result<NodeData> node) {
  if (!node) return forget(path);
  if (!options_.keep_data) node->data.clear();
  const auto found = nodes_.find(path);
  const bool known = found != nodes_.end();
  const bool same_node = known && found->second.stat.czxid == node->stat.czxid;
  const bool changed = !same_node || found->second.stat.mzxid != node->stat.mzxid;
  if (known && !same_node) forget(path);  // Another one of that name: what was below it is gone, too.
  {
    const std::lock_guard lock(mutex_);
    nodes_.insert_or_assign(path, *node);
  }
  if (changed) {
    publish({same_node ? TreeEvent::Kind::kChanged : TreeEvent::Kind::kCreated, path, *std::move(node)});
  }
}

void TreeCache::State::apply_children(const std::string& path, const std::vector<std::string>& names) {
  const std::set<std::string_view> present(names.begin(), names.end());
  for (const std::string& name : names_below(path)) {
    if (!present.contains(name)) forget(child_path(path, name));
  }
}

// It, and all below it; those first, as servers delete them.
void TreeCache::State::forget(const std::string& path) {
  Nodes gone;
  {
    const std::lock_guard lock(mutex_);
    const std::string below = path == "/" ? path : path + "/";
    auto first = nodes_.lower_bound(below);
    while (first != nodes_.end() && first->first.starts_with(below)) gone.insert(nodes_.extract(first++));
    if (const auto self = nodes_.find(path); self != nodes_.end()) gone.insert(nodes_.extract(self));
  }
  for (auto it = gone.rbegin(); it != gone.rend(); ++it) {
    publish({TreeEvent::Kind::kDeleted, it->first, std::move(it->second)});
  }
}

// Whole subtrees are stepped over: '0' is the character behind '/'.
std::vector<std::string> TreeCache::State::names_below(std::string_view path) const {
  std::vector<std::string> names;
  const std::string below = path == "/" ? "/" : std::string(path) + "/";
  auto it = nodes_.lower_bound(below);
  while (it != nodes_.end() && it->first.starts_with(below)) {
    const std::string_view rest = std::string_view(it->first).substr(below.size());
    const std::size_t slash = rest.find('/');
    if (slash != std::string_view::npos) {
      it = nodes_.lower_bound(below + std::string(rest.substr(0, slash)) + "0");
      continue;
    }
    if (!rest.empty()) names.emplace_back(rest);
    ++it;
  }
  return names;
}

void TreeCache::State::publish(const TreeEvent& event) {
  std::erase_if(streams_, [](const auto& stream) { return stream.is_abandoned(); });
  for (auto& stream : streams_) stream.push(event);
  const auto listeners = listeners_;  // One may end itself, or another.
  for (const auto& [id, listener] : listeners) {
    if (listeners_.contains(id)) listener(event);
  }
}

// --- TreeCache ---

TreeCache::TreeCache(Client client, std::string root, TreeCacheOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(root), std::move(options))) {}

TreeCache::~TreeCache() {
  if (state_) state_->end();
}
TreeCache& TreeCache::operator=(TreeCache&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Task<Result<void>> TreeCache::start(Wait wait) {
  state_->begin();
  return Loop::until(state_, [state = state_.get()] { return state->is_initialized(); }, std::move(wait));
}

std::optional<NodeData> TreeCache::find(std::string_view path) const { return state_->find(path); }
std::vector<std::string> TreeCache::children(std::string_view path) const { return state_->children(path); }
std::size_t TreeCache::size() const { return state_->size(); }
bool TreeCache::is_fresh() const { return state_->is_fresh(); }
Clock::duration TreeCache::staleness() const { return state_->staleness(); }

Stream<TreeEvent> TreeCache::events() const {
  StreamSource<TreeEvent> source(state_->scheduler());
  Stream<TreeEvent> stream = source.stream();
  state_->scheduler().post([state = state_, source = std::move(source)] { state->add_stream(source); });
  return stream;
}

Client::Subscription TreeCache::on_event(std::function<void(const TreeEvent&)> callback) const {
  const auto id = std::make_shared<std::uint64_t>(0);
  const auto ended = std::make_shared<bool>(false);
  state_->scheduler().post([state = state_, id, ended, callback = std::move(callback)] {
    if (!*ended) *id = state->add_listener(callback);
  });
  return Client::Subscription([weak = std::weak_ptr<State>(state_), id, ended] {
    const auto state = weak.lock();
    if (!state) return;
    auto end = [state, id, ended] {
      *ended = true;
      state->remove_listener(*id);
    };
    if (state->scheduler().is_current()) return end();
    state->scheduler().post(std::move(end));
  });
}

}  // namespace drover::recipes
