// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/cluster.h"

#include <map>
#include <mutex>
#include <utility>

#include "base/child_path.h"
#include "base/number.h"
#include "base/path.h"
#include "drover/recipes/tree_cache.h"
#include "recipes/common/loop.h"
#include "recipes/common/settle.h"
#include "recipes/common/steps.h"

namespace drover::recipes {

std::string Command::to_text() const { return std::to_string(generation) + " " + word; }

std::optional<Command> Command::parse(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto generation = parse_number<decltype(Command::generation)>(text.substr(0, blank));
  if (!generation) return std::nullopt;
  return Command{.word = std::string(text.substr(blank + 1)), .generation = *generation};
}

// --- the leader ---

class Cluster::State {
 public:
  State(Client c, std::string p, ClusterOptions o)
      : client(std::move(c)), path(std::move(p)), options(o), cache(client, path) {}

  void take(const TreeEvent& event);
  std::vector<ClusterNode> nodes() const;

  const Client client;
  const std::string path;
  const ClusterOptions options;
  TreeCache cache;
  Client::Subscription listening;

 private:
  struct Known {
    ClusterNode node;
    bool live = false;
    Clock::time_point since{};  // it is live, or not, or has beaten last
  };
  Liveness liveness_of(const Known& known) const;
  void forget_old();

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;
};

void Cluster::State::take(const TreeEvent& event) {
  const std::string_view kind = base_name(parent_or_root(event.path));
  if (event.path.empty() || parent_or_root(parent_or_root(event.path)) != path) return;
  const bool gone = event.kind == TreeEvent::Kind::kDeleted;
  const std::lock_guard lock(mutex_);
  const std::string id(base_name(event.path));
  Known& known = known_[id];
  known.node.id = id;
  const auto command = gone ? std::nullopt : Command::parse(event.node.data);
  if (kind == "desired") {
    known.node.desired = command;
  } else if (kind == "status") {
    known.node.status = command;
  } else if (kind == "live") {
    known.live = !gone;
    known.since = Clock::now();
    if (const auto data = LiveData::parse(event.node.data)) known.node.info = data->info;
  }
  forget_old();
}

Liveness Cluster::State::liveness_of(const Known& known) const {
  const auto age = Clock::now() - known.since;
  if (!known.live) return age < options.damping ? Liveness::kSuspect : Liveness::kDown;
  const auto patience = options.beat_every * options.beats_missed_max;
  return options.beat_every.count() > 0 && age > patience ? Liveness::kSuspect : Liveness::kUp;
}

// A member that has been gone for long and has no command is forgotten.
void Cluster::State::forget_old() {
  std::erase_if(known_, [&](const auto& each) {
    const Known& known = each.second;
    return !known.live && !known.node.desired && !known.node.status &&
           Clock::now() - known.since > 10 * options.damping;
  });
}

std::vector<ClusterNode> Cluster::State::nodes() const {
  const std::lock_guard lock(mutex_);
  std::vector<ClusterNode> all;
  for (const auto& [id, known] : known_) {
    all.push_back(known.node);
    all.back().liveness = liveness_of(known);
  }
  return all;
}

namespace {

// After a lost reply the generation decides: the next one with our word is ours.
Task<Result<std::uint64_t>> write_command(Client client, std::string path, std::string word,
                                          std::vector<Op> fence, Wait wait) {
  for (std::optional<Command> wanted;;) {
    auto reading = read_now(client, path, wait);
    const Result<std::optional<NodeData>> now = co_await std::move(reading);
    if (!now) co_return std::unexpected(now.error());
    const auto present = *now ? Command::parse((*now)->data) : std::nullopt;
    if (wanted && present == wanted) co_return wanted->generation;
    const std::uint64_t generation = (present ? present->generation : 0) + 1;
    if (wanted && wanted->generation != generation) co_return fail(Errc::kBadVersion, path);
    wanted = Command{word, generation};
    std::vector<Op> ops = fence;
    ops.push_back(*now ? Op::set(path, wanted->to_text(), (*now)->stat.version)
                       : Op::create(path, wanted->to_text()));
    const int ours = static_cast<int>(fence.size());
    auto writing = client.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> written = co_await std::move(writing);
    if (written) co_return generation;
    const Error& error = written.error();
    if (is_recoverable(error)) {
      CO_TRY(pause_before_retry(client, error, wait));
      continue;
    }
    if (error == Errc::kNodeExists) co_return fail(Errc::kBadVersion, path);
    if (error != Errc::kNoNode || error.op_index != ours || *now) co_return std::unexpected(error);
    auto making = client.create(std::string(parent_or_root(path)), {}, {.parents = true}, wait);
    const Result<Created> made = co_await std::move(making);
    if (made || made.error() == Errc::kNodeExists) continue;
    if (!is_recoverable(made.error())) co_return std::unexpected(made.error());
    CO_TRY(pause_before_retry(client, made.error(), wait));
  }
}

}  // namespace

Cluster::Cluster(Client client, std::string path, ClusterOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(path), options)) {
  state_->listening = state_->cache.on_event([weak = std::weak_ptr<State>(state_)](const TreeEvent& event) {
    if (const auto state = weak.lock()) state->take(event);
  });
}

Task<Result<void>> Cluster::start(Wait wait) const { return state_->cache.start(std::move(wait)); }

Task<Result<std::uint64_t>> Cluster::command(std::string id, std::string word, std::vector<Op> fence,
                                             Wait wait) const {
  return write_command(state_->client, child_path(child_path(state_->path, "desired"), id), std::move(word),
                       std::move(fence), std::move(wait));
}

std::vector<ClusterNode> Cluster::nodes() const { return state_->nodes(); }
bool Cluster::is_fresh() const { return state_->cache.is_fresh(); }

// --- the members ---

namespace {

Task<Result<void>> started(Task<Result<std::string>> status, Task<Result<void>> heart) {
  const Result<std::string> said = co_await std::move(status);
  if (!said) co_return std::unexpected(said.error());
  co_return co_await std::move(heart);
}

Task<Result<Command>> command_of(std::shared_ptr<NodeCache> desired, Wait wait) {
  for (;;) {
    auto reading = desired->next(wait);
    const Result<std::optional<NodeData>> node = co_await std::move(reading);
    if (!node) co_return std::unexpected(node.error());
    if (!*node) continue;  // It was removed and gets no more commands.
    if (const auto command = Command::parse((*node)->data)) co_return *command;
  }
}

}  // namespace

ClusterMember::ClusterMember(Client client, std::string path, std::string id, HeartbeatOptions options)
    : heart_(client, path, id, options),
      status_(client, child_path(child_path(path, "status"), id), Command{}.to_text(),
              {.on_conflict = options.on_conflict}),
      desired_(std::make_shared<NodeCache>(client, child_path(child_path(path, "desired"), id))) {}

// Status first, then the live node: nobody sees a live member without a status.
Task<Result<void>> ClusterMember::start(Wait wait) {
  return started(status_.start(wait), heart_.start(wait));
}
Task<Result<Command>> ClusterMember::next_command(Wait wait) { return command_of(desired_, std::move(wait)); }
void ClusterMember::report(std::string word, std::uint64_t generation) {
  status_.set_data(Command{std::move(word), generation}.to_text());
}

}  // namespace drover::recipes
