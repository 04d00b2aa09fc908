// SPDX-License-Identifier: Apache-2.0
//
// Unique numbers.
//
//   IdGenerator ids(client, "/ids", IdMode::kZxid);
//   std::int64_t id = unwrap(sync_wait(ids.next(wait)));
//
//   SnowflakeIds flakes(client, "/flakes");                // 64-bit ids by time, without a request for each
//   unwrap(sync_wait(flakes.start(wait)));
//   std::int64_t id = unwrap(flakes.next());
//
// No id is given twice. There may be gaps: if a reply is lost, its id is lost, and another one is
// fetched.
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
  kZxid,     // zxid of a write to the node: 64 bits, growing, with large gaps, even if the node is recreated
  kVersion,  // version of the node: 1, 2, 3... up to 2^31 - 1, then kSequenceExhausted; restarts with the
             // node
  kSequential,  // number of a temporary sequential child: 0, 1, 2..., the same limit
  kBlock,       // from blocks of a counter: the fewest requests
};

struct IdOptions {
  std::int64_t block = 1000;  // size of a block for kBlock
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
  // A slot whose time was used further ahead than this is skipped: a clock was wrong, and the slot would give
  // no id for that long.
  std::chrono::milliseconds patience{60'000};
  // Start of the 41 bits of time: milliseconds since 2020.
  std::int64_t epoch_ms = 1'577'836'800'000;
  std::function<std::int64_t()> wall_ms = {};  // none: the system's clock
};

// Ids of 41 bits of time, 10 bits of a worker's slot, and a 12-bit count within a millisecond.
//
// The slot is an ephemeral node of this session. If the session may be gone, next() returns kStale until
// there is another slot. A clock that is set back never gives an id twice: the time used by a slot is stored
// in the tree in advance, and the next owner of the slot begins after it. Until the clock has reached it,
// next() returns kStale.
class SnowflakeIds {
 public:
  SnowflakeIds(Client client, std::string path, SnowflakeOptions options = {});
  SnowflakeIds(SnowflakeIds&&) noexcept = default;
  SnowflakeIds& operator=(SnowflakeIds&& other) noexcept;
  ~SnowflakeIds();

  // Starts, and returns when ids are available. kTooMany: all slots are taken. kStale: free slots were used
  // ahead of this clock by more than `patience`.
  Task<Result<void>> start(Wait wait = {});
  // Safe to call from any thread; never waits. kStale: not available now.
  Result<std::int64_t> next();
  std::optional<int> slot() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace drover::recipes
