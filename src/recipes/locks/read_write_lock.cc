// SPDX-License-Identifier: Apache-2.0
#include "drover/recipes/read_write_lock.h"

#include <map>
#include <mutex>
#include <utility>

#include "base/child_path.h"
#include "recipes/locks/holding.h"
#include "recipes/locks/ticket.h"

namespace drover::recipes {
namespace {

// Equally long, as in Curator. With equal numbers, the writer comes first.
constexpr std::string_view kWrite = "__WRIT__";
constexpr std::string_view kRead = "__READ__";
constexpr std::size_t kWriter = 0;

// The nearest writer before it; the end of an earlier writer would not be enough.
std::optional<std::size_t> behind_writers(const std::vector<Contender>& line, std::size_t own) {
  for (std::size_t i = own; i-- > 0;) {
    if (line[i].kind == kWriter) return i;
  }
  return std::nullopt;
}

}  // namespace

struct ReadWriteLock::State {
  LineOptions line(std::string_view marker) const {
    LineOptions out;
    out.directory = path;
    out.marker = marker;
    out.markers = {kWrite, kRead};
    out.rule = marker == kRead ? behind_writers : behind_everybody;
    out.data = options.data;
    out.acl = options.acl;
    out.layout = options.layout;
    return out;
  }
  // One of the owner's holdings, if any; a writer holds nothing else.
  std::shared_ptr<Holding> held_by(const Owner* owner) {
    if (!owner) return nullptr;
    const std::lock_guard lock(mutex);
    std::erase_if(held, [](const auto& each) {
      const auto holding = each.second.lock();
      return !holding || holding->given_back || holding->lost.stop_requested();
    });
    const auto found = held.find(owner);
    return found == held.end() ? nullptr : found->second.lock();
  }
  void remember(const Owner* owner, const Guard& guard) {
    if (!owner) return;
    const std::lock_guard lock(mutex);
    held.emplace(owner, guard.holding());
  }
  const Owner* owner_of(const std::shared_ptr<Holding>& holding) {
    const std::lock_guard lock(mutex);
    for (const auto& [owner, each] : held) {
      if (each.lock() == holding) return owner;
    }
    return nullptr;
  }

  static Task<Result<Guard>> read(std::shared_ptr<State> state, const Owner* owner, Wait wait);
  static Task<Result<Guard>> write(std::shared_ptr<State> state, const Owner* owner, Wait wait);
  static Task<Result<Guard>> downgrade(std::shared_ptr<State> state, std::shared_ptr<Holding> writer,
                                       Wait wait);

  Client client;
  std::string path;
  MutexOptions options;
  std::mutex mutex{};
  std::multimap<const Owner*, std::weak_ptr<Holding>> held{};
};

bool is_writer(const Holding& holding) { return holding.node.find(kWrite) != std::string::npos; }

// An owner that reads again shares its node: a new node would wait behind a writer that waits for the old
// one.
Task<Result<Guard>> ReadWriteLock::State::read(std::shared_ptr<State> state, const Owner* owner, Wait wait) {
  if (const auto holding = state->held_by(owner)) {
    if (is_writer(*holding)) co_return fail(Errc::kWouldDeadlock, state->path, "it writes: downgrade()");
    if (holding->share()) co_return Guard(holding);
  }
  auto acquiring = acquire_turn(state->client, state->line(kRead), std::move(wait));
  Result<Ticket> ticket = co_await std::move(acquiring);
  if (!ticket) co_return std::unexpected(std::move(ticket).error());
  Guard guard = hold(*std::move(ticket), {.watch_node = state->options.revocable});
  state->remember(owner, guard);
  co_return guard;
}

Task<Result<Guard>> ReadWriteLock::State::write(std::shared_ptr<State> state, const Owner* owner, Wait wait) {
  if (state->held_by(owner)) co_return fail(Errc::kWouldDeadlock, state->path);
  auto acquiring = acquire_turn(state->client, state->line(kWrite), std::move(wait));
  Result<Ticket> ticket = co_await std::move(acquiring);
  if (!ticket) co_return std::unexpected(std::move(ticket).error());
  Guard guard = hold(*std::move(ticket), {.watch_node = state->options.revocable});
  state->remember(owner, guard);
  co_return guard;
}

// The state of the server that sent the last reply, or a newer one.
Task<Result<bool>> is_there(std::shared_ptr<Holding> holding, Wait wait) {
  auto reading = read_node(holding->client, holding->node, nullptr, std::move(wait));
  const Result<NodeData> node = co_await std::move(reading);
  if (node) co_return node->stat.czxid == holding->czxid;
  if (node.error() == Errc::kNoNode) co_return false;
  co_return std::unexpected(node.error());
}

// The reader's node gets the writer's number, so that all waiters stay behind it.
Task<Result<Guard>> ReadWriteLock::State::downgrade(std::shared_ptr<State> state,
                                                    std::shared_ptr<Holding> writer, Wait wait) {
  const std::size_t at = writer ? writer->node.rfind(kWrite) : std::string::npos;
  if (at == std::string::npos || writer->given_back) co_return fail(Errc::kNotOwner, state->path);
  if (writer->lost.stop_requested()) co_return fail(Errc::kLockLost, writer->node);
  auto there = writer->client.scheduler().enter();
  co_await there;
  const std::string name = std::string(kRead) + writer->node.substr(at + kWrite.size());
  const CreateOptions mode{.mode = CreateMode::kEphemeral, .acl = state->options.acl};
  auto creating = writer->client.create_protected(child_path(state->path, name), state->options.data, mode,
                                                  for_steps(writer->client, wait));
  Result<Created> created = co_await std::move(creating);
  if (!created) co_return std::unexpected(std::move(created).error());
  Ticket reader(writer->client, std::move(created->path), created->stat.czxid);
  // If the writer's node still existed then, no other writer got in, and none will. Otherwise another client
  // may be writing.
  auto looking = is_there(writer, for_steps(writer->client, wait));
  const Result<bool> there_still = co_await std::move(looking);
  if (!there_still) co_return std::unexpected(there_still.error());
  if (!*there_still) writer->lost.request_stop();
  if (writer->lost.stop_requested()) co_return fail(Errc::kLockLost, writer->node);
  if (writer->given_back.exchange(true)) co_return fail(Errc::kNotOwner, writer->node);
  writer->client.ensure_deleted(writer->node);
  Guard guard = hold(std::move(reader), {.watch_node = state->options.revocable, .fence = writer->fence});
  state->remember(state->owner_of(writer), guard);
  co_return guard;
}

ReadWriteLock::ReadWriteLock(Client client, std::string path, MutexOptions options)
    : state_(new State{.client = std::move(client), .path = std::move(path), .options = std::move(options)}) {
}

Task<Result<Guard>> ReadWriteLock::read(Wait wait) const {
  return State::read(state_, nullptr, std::move(wait));
}
Task<Result<Guard>> ReadWriteLock::write(Wait wait) const {
  return State::write(state_, nullptr, std::move(wait));
}
Task<Result<Guard>> ReadWriteLock::read(const Owner& owner, Wait wait) const {
  return State::read(state_, &owner, std::move(wait));
}
Task<Result<Guard>> ReadWriteLock::write(const Owner& owner, Wait wait) const {
  return State::write(state_, &owner, std::move(wait));
}
Task<Result<Guard>> ReadWriteLock::downgrade(const Guard& write, Wait wait) const {
  return State::downgrade(state_, write.holding(), std::move(wait));
}
Task<Result<std::vector<std::string>>> ReadWriteLock::participants(Wait wait) const {
  return participants_of(state_->client, state_->line(kWrite), std::move(wait));
}

}  // namespace drover::recipes
