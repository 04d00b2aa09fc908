// SPDX-License-Identifier: Apache-2.0
//
// A value that all clients follow and may change.
//
//   SharedCount limit(client, "/limit", 10);           // 10 until it is set
//   unwrap(sync_wait(limit.start(wait)));
//   auto seen = limit.current();
//   bool done = unwrap(sync_wait(limit.try_set(seen, seen.value + 1)));   // false: it was changed
//   auto next = co_await limit.next(wait);             // when it has changed
//
// A value that is set here is seen here at once. Values are followed as in NodeCache, by mzxid and with a
// read after each reconnect. A set with a lost reply is resolved: at the version that was seen it was not
// applied; with our bytes it was, or another client has set the same; otherwise the error is maybe_applied().
// For sums use AtomicLong.
//
// Curator: SharedCount (four bytes, big-endian), SharedValue. kazoo: Counter(support_curator=True).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "drover/client.h"
#include "drover/recipes/codec.h"
#include "drover/recipes/config_node.h"
#include "drover/recipes/settled.h"

namespace drover::recipes {

template <class T>
class SharedValue {
 public:
  struct Seen {
    T value;
    Version version{};
    Zxid mzxid{};
    bool is_absent = false;  // there is no node, or it has not been read yet; the value is the seed
  };

  SharedValue(Client client, std::string path, T seed, Codec<T> codec)
      : parts_(
            std::make_shared<Parts>(std::move(client), std::move(path), std::move(seed), std::move(codec))) {}

  // Starts, and returns when it is known; sets the seed if there is no node.
  Task<Result<void>> start(Wait wait = {}) { return start_with(parts_, std::move(wait)); }
  // The seed, while there is no readable node.
  Seen current() const { return parts_->seen(parts_->node.current()); }
  // Waits for a change. For one reader.
  Task<Result<Seen>> next(Wait wait = {}) { return next_with(parts_, parts_->node.next(std::move(wait))); }
  // Sets it unconditionally.
  Task<Result<void>> set(T value, Wait wait = {}) {
    return set_with(parts_, Version::kAny, std::move(value), std::move(wait));
  }
  // Only if it is still what was seen; an absent node is created, if it is still absent.
  Task<Result<bool>> try_set(Seen seen, T value, Wait wait = {}) {
    if (seen.is_absent) return make_with(parts_, std::move(value), std::move(wait));
    return try_with(set_with(parts_, seen.version, std::move(value), std::move(wait)));
  }

 private:
  struct Parts {
    Parts(Client c, std::string p, T s, Codec<T> k)
        : client(std::move(c)),
          path(std::move(p)),
          seed(std::move(s)),
          codec(std::move(k)),
          node(client, path) {}
    Seen seen(const std::optional<NodeData>& now) const {
      if (!now) return {.value = seed, .is_absent = true};
      Result<T> value = codec.decode(now->data);
      return {value ? *std::move(value) : seed, now->stat.version, now->stat.mzxid};
    }
    Client client;
    std::string path;
    T seed;
    Codec<T> codec;
    NodeCache node;
  };
  using Shared = std::shared_ptr<Parts>;

  static Task<Result<void>> start_with(Shared parts, Wait wait) {
    auto creating = create_settled(parts->client, parts->path, parts->codec.encode(parts->seed), wait);
    const Result<Stat> created = co_await std::move(creating);
    // An existing node is the value.
    if (!created && created.error() != Errc::kNodeExists) co_return std::unexpected(created.error());
    auto starting = parts->node.start(wait);
    co_return co_await std::move(starting);
  }
  static Task<Result<Seen>> next_with(Shared parts, Task<Result<std::optional<NodeData>>> reading) {
    const Result<std::optional<NodeData>> now = co_await std::move(reading);
    if (!now) co_return std::unexpected(now.error());
    co_return parts->seen(*now);
  }
  static Task<Result<void>> set_with(Shared parts, Version version, T value, Wait wait) {
    auto writing = write_settled(parts->client, parts->path, parts->codec.encode(value), version, wait);
    const Result<Stat> written = co_await std::move(writing);
    auto refreshing = parts->node.refresh(wait);
    co_await std::move(refreshing);
    if (!written) co_return std::unexpected(written.error());
    co_return Result<void>{};
  }
  static Task<Result<bool>> make_with(Shared parts, T value, Wait wait) {
    auto creating = create_settled(parts->client, parts->path, parts->codec.encode(value), wait);
    const Result<Stat> created = co_await std::move(creating);
    auto refreshing = parts->node.refresh(wait);
    co_await std::move(refreshing);
    if (created) co_return true;
    if (created.error() == Errc::kNodeExists && !created.error().maybe_applied()) co_return false;
    co_return std::unexpected(created.error());
  }
  static Task<Result<bool>> try_with(Task<Result<void>> setting) {
    const Result<void> set = co_await std::move(setting);
    if (set) co_return true;
    if (set.error() == Errc::kBadVersion || set.error() == Errc::kNoNode) co_return false;
    co_return std::unexpected(set.error());
  }

  Shared parts_;
};

class SharedCount : public SharedValue<std::int32_t> {
 public:
  SharedCount(Client client, std::string path, std::int32_t seed = 0)
      : SharedValue(std::move(client), std::move(path), seed, big_endian_codec<std::int32_t>()) {}
};

}  // namespace drover::recipes
