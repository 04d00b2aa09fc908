// SPDX-License-Identifier: Apache-2.0
//
// Numbers that nobody else gets.
//
//   IdGenerator ids(client, "/ids", IdMode::kZxid);
//   std::int64_t id = unwrap(sync_wait(ids.next(wait)));
//
//   SnowflakeIds flakes(client, "/flakes");                // 64-bit ids by time, without a request for each
//   unwrap(sync_wait(flakes.start(wait)));
//   std::int64_t id = unwrap(flakes.next());
//
// No id is given twice, whatever is lost; there may be gaps: an answer that is lost takes its id along, and
// another one is fetched.
//
// Curator: DistributedAtomicLong, CachedAtomicLong (kBlock is compatible). kazoo: Counter.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "drover/client.h"

namespace drover::recipes {

enum class IdMode : std::uint8_t {
  kZxid,        // of a write to the node: 64 bits, growing, with large gaps; also when the node is made anew
  kVersion,     // of the node: 1, 2, 3... up to 2^31 - 1, then kSequenceExhausted; anew with a new node
  kSequential,  // of a node made below it and removed again: 0, 1, 2..., the same limit
  kBlock,       // out of blocks that are fetched from a counter: the fewest requests
};

struct IdOptions {
  std::int64_t block = 1000;  // of kBlock: how many at once
};

class IdGenerator {
 public:
  IdGenerator(Client client, std::string path, IdMode mode = IdMode::kZxid, IdOptions options = {});

  Task<Result<std::int64_t>> next(Wait wait = {}) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

struct SnowflakeOptions {
  int slots = 1024;
  std::chrono::milliseconds period{5000};  // how far ahead a worker's time is reserved
  // A slot whose time was used further ahead than this is not taken: somebody's clock was wrong, and it would
  // give no id for as long.
  std::chrono::milliseconds patience{60'000};
  // Of the first 41 bits of an id: milliseconds since 2020.
  std::int64_t epoch_ms = 1'577'836'800'000;
  std::function<std::int64_t()> wall_ms = {};  // none: the system's clock
};

// Ids of 41 bits of time, 10 of a worker's slot and 12 that count within a millisecond.
//
// The slot is this session's, an ephemeral node; when the session may be gone, no more ids are given (kStale)
// until there is another slot. A clock that is set back gives no id twice: how far a slot's time was used is
// kept in the tree, ahead of its use, and whoever has the slot next begins behind it. Until the clock has got
// there, next() is kStale.
class SnowflakeIds {
 public:
  SnowflakeIds(Client client, std::string path, SnowflakeOptions options = {});
  SnowflakeIds(SnowflakeIds&&) noexcept = default;
  SnowflakeIds& operator=(SnowflakeIds&& other) noexcept;
  ~SnowflakeIds();

  // Begins, and returns when ids can be had. kTooMany: all slots are taken. kStale: those that are free have
  // been used ahead of this clock, by more than one waits for.
  Task<Result<void>> start(Wait wait = {});
  // From any thread, and without waiting. kStale: not now.
  Result<std::int64_t> next();
  std::optional<int> slot() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
