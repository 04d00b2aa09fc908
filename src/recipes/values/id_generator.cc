// SPDX-License-Identifier: Apache-2.0
//
// A write with a lost reply may have been applied: its id is never used, and the next write gives another
// one.
#include "drover/recipes/id_generator.h"

#include <deque>
#include <utility>

#include "base/child_path.h"
#include "drover/recipes/atomic_value.h"
#include "layouts/sequence.h"
#include "recipes/common/loop.h"
#include "recipes/common/steps.h"

namespace drover::recipes {

class IdGenerator::State {
 public:
  State(Client c, std::string p, IdMode m, IdOptions o)
      : client(std::move(c)), path(std::move(p)), mode(m), options(o), counter(client, path) {}

  static Task<Result<std::int64_t>> next(std::shared_ptr<State> self, Wait wait);

 private:
  static Task<Result<std::int64_t>> by_write(State& self, Wait wait);
  static Task<Result<std::int64_t>> by_child(State& self, Wait wait);
  static Task<Result<std::int64_t>> by_block(State& self, Wait wait);
  static Task<Result<void>> make_node(State& self, Wait wait);
  Result<std::int64_t> id_of(const Stat& stat) const;

  struct Range {
    std::int64_t next;
    std::int64_t end;
  };

  const Client client;
  const std::string path;
  const IdMode mode;
  const IdOptions options;
  const AtomicLong counter;
  std::deque<Range> blocks;
};

Task<Result<std::int64_t>> IdGenerator::State::next(std::shared_ptr<State> self, Wait wait) {
  auto there = self->client.scheduler().enter();
  co_await there;
  for (;;) {
    auto fetching = self->mode == IdMode::kBlock        ? by_block(*self, wait)
                    : self->mode == IdMode::kSequential ? by_child(*self, wait)
                                                        : by_write(*self, wait);
    Result<std::int64_t> id = co_await std::move(fetching);
    if (id || !is_recoverable(id.error())) co_return id;
    CO_TRY(pause_before_retry(self->client, id.error(), wait));
  }
}

// Persistent, not a container: servers remove empty containers, and the count would start again.
Task<Result<void>> IdGenerator::State::make_node(State& self, Wait wait) {
  auto creating = self.client.create(self.path, {}, {.parents = true}, wait);
  const Result<Created> created = co_await std::move(creating);
  if (created || created.error() == Errc::kNodeExists) co_return Result<void>{};
  co_return std::unexpected(created.error());
}

Result<std::int64_t> IdGenerator::State::id_of(const Stat& stat) const {
  if (mode == IdMode::kZxid) return raw(stat.mzxid);
  if (std::to_underlying(stat.version) <= 0) return fail(Errc::kSequenceExhausted, path);
  return std::to_underlying(stat.version);
}

Task<Result<std::int64_t>> IdGenerator::State::by_write(State& self, Wait wait) {
  for (;;) {
    auto setting = self.client.set(self.path, {}, Version::kAny, wait);
    const Result<Stat> stat = co_await std::move(setting);
    if (stat) co_return self.id_of(*stat);
    if (stat.error() != Errc::kNoNode) co_return std::unexpected(stat.error());
    auto making = make_node(self, wait);
    const Result<void> made = co_await std::move(making);
    if (!made) co_return std::unexpected(made.error());
  }
}

Task<Result<std::int64_t>> IdGenerator::State::by_child(State& self, Wait wait) {
  for (;;) {
    auto creating = self.client.create_protected(child_path(self.path, "id-"), {},
                                                 {.mode = CreateMode::kPersistentSequential}, wait);
    const Result<Created> created = co_await std::move(creating);
    if (created) {
      self.client.ensure_deleted(created->path);
      const auto sequence = layouts::sequence_of(created->path, "id-");
      if (!sequence || *sequence < 0) co_return fail(Errc::kSequenceExhausted, self.path);
      co_return *sequence;
    }
    if (created.error() != Errc::kNoNode) co_return std::unexpected(created.error());
    auto making = make_node(self, wait);
    const Result<void> made = co_await std::move(making);
    if (!made) co_return std::unexpected(made.error());
  }
}

// Two callers may fetch concurrently; both blocks are used.
Task<Result<std::int64_t>> IdGenerator::State::by_block(State& self, Wait wait) {
  if (self.options.block < 1) co_return fail(Errc::kBadArguments, self.path, "an empty block");
  if (self.blocks.empty()) {
    auto adding = self.counter.add(self.options.block, wait);
    const Result<std::int64_t> end = co_await std::move(adding);
    if (!end) co_return std::unexpected(end.error());
    self.blocks.push_back({*end - self.options.block, *end});
  }
  Range& range = self.blocks.front();
  const std::int64_t id = range.next++;
  if (range.next == range.end) self.blocks.pop_front();
  co_return id;
}

IdGenerator::IdGenerator(Client client, std::string path, IdMode mode, IdOptions options)
    : state_(std::make_shared<State>(std::move(client), std::move(path), mode, options)) {}

Task<Result<std::int64_t>> IdGenerator::next(Wait wait) const { return State::next(state_, std::move(wait)); }

}  // namespace drover::recipes
