// SPDX-License-Identifier: Apache-2.0
//
// A number, or any other value, that several clients change without losing a change.
//
//   AtomicLong hits(client, "/hits");
//   std::int64_t now = unwrap(sync_wait(hits.add(1)));
//
//   AtomicValue<Limits> limits(client, "/limits", limits_codec, {.exactly_once = true});
//   unwrap(sync_wait(limits.update([](std::optional<Limits> old) { return raise(old); })));
//
// Each change applies to the value it was computed from. If its reply is lost, it is not repeated: the recipe
// finds out whether it was applied. If that is impossible, because the node has changed since, the error is
// maybe_applied(). With exactly_once it is always possible: each change leaves a mark in <path>.ops/ in the
// same transaction. This costs a larger transaction and one more node per caller, which is removed with the
// object.
//
// Many concurrent changes of one value conflict and are computed again. With a lock_path, a client that lost
// a few times waits for a Mutex there, so that these clients change the value one after the other. Clients
// without the lock may still be faster; no change is lost in any case.
//
// A number is eight bytes, big-endian, as in Curator; no bytes mean zero. Sums wrap as in
// Java.
//
// Curator: DistributedAtomicLong, DistributedAtomicInteger, DistributedAtomicValue (with PromotedToLock, same
// lock nodes), which can add twice if a reply is lost. kazoo: Counter (support_curator for four bytes), the
// same.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "drover/client.h"
#include "drover/recipes/codec.h"

namespace drover::recipes {

struct AtomicOptions {
  bool exactly_once = false;
  // Marks of crashed processes are removed when they are older than this.
  std::chrono::milliseconds marks_kept = std::chrono::hours(24);
  std::string lock_path = {};  // none: never wait for a lock
  int tries_before_lock = 5;
};

// The bytes of a node that may not exist.
class AtomicBytes {
 public:
  AtomicBytes(Client client, std::string path, AtomicOptions options = {});

  using Bytes = std::optional<std::string>;  // none: no node
  // Computes the new value from the old one; called again after a conflict. An error ends the update.
  using Change = std::function<Result<std::string>(const Bytes&)>;
  // Returns the resulting bytes.
  Task<Result<std::string>> update(Change change, Wait wait = {}) const;
  Task<Result<Bytes>> get(Wait wait = {}) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

template <class T>
class AtomicValue {
 public:
  AtomicValue(Client client, std::string path, Codec<T> codec, AtomicOptions options = {})
      : bytes_(std::move(client), std::move(path), std::move(options)),
        codec_(std::make_shared<const Codec<T>>(std::move(codec))) {}

  // Empty: it was never set.
  Task<Result<std::optional<T>>> get(Wait wait = {}) const {
    return get_with(codec_, bytes_.get(std::move(wait)));
  }
  // Returns the resulting value.
  Task<Result<T>> update(std::function<T(std::optional<T>)> change, Wait wait = {}) const {
    return update_with(codec_, bytes_.update(
                                   [codec = codec_, change = std::move(change)](
                                       const AtomicBytes::Bytes& old) -> Result<std::string> {
                                     auto value = decoded(*codec, old);
                                     if (!value) return std::unexpected(value.error());
                                     return codec->encode(change(*std::move(value)));
                                   },
                                   std::move(wait)));
  }
  Task<Result<T>> set(T value, Wait wait = {}) const {
    return update([value = std::move(value)](const std::optional<T>&) { return value; }, std::move(wait));
  }
  // Only if it is `expected`; false: it is another value.
  Task<Result<bool>> compare_and_set(T expected, T value, Wait wait = {}) const {
    return was_done(bytes_.update(
        [codec = codec_, expected = std::move(expected),
         value = std::move(value)](const AtomicBytes::Bytes& old) -> Result<std::string> {
          const auto present = decoded(*codec, old);
          if (!present) return std::unexpected(present.error());
          if (!*present || !(**present == expected)) return fail(Errc::kStale);
          return codec->encode(value);
        },
        std::move(wait)));
  }

 private:
  static Result<std::optional<T>> decoded(const Codec<T>& codec, const AtomicBytes::Bytes& bytes) {
    if (!bytes) return std::optional<T>{};
    Result<T> value = codec.decode(*bytes);
    if (!value) return std::unexpected(value.error());
    return std::optional<T>(*std::move(value));
  }
  static Task<Result<std::optional<T>>> get_with(std::shared_ptr<const Codec<T>> codec,
                                                 Task<Result<AtomicBytes::Bytes>> reading) {
    const Result<AtomicBytes::Bytes> bytes = co_await std::move(reading);
    if (!bytes) co_return std::unexpected(bytes.error());
    co_return decoded(*codec, *bytes);
  }
  static Task<Result<T>> update_with(std::shared_ptr<const Codec<T>> codec,
                                     Task<Result<std::string>> updating) {
    const Result<std::string> bytes = co_await std::move(updating);
    if (!bytes) co_return std::unexpected(bytes.error());
    co_return codec->decode(*bytes);
  }
  static Task<Result<bool>> was_done(Task<Result<std::string>> updating) {
    const Result<std::string> bytes = co_await std::move(updating);
    if (!bytes && bytes.error() == Errc::kStale) co_return false;
    if (!bytes) co_return std::unexpected(bytes.error());
    co_return true;
  }

  AtomicBytes bytes_;
  std::shared_ptr<const Codec<T>> codec_;
};

class AtomicLong {
 public:
  AtomicLong(Client client, std::string path, AtomicOptions options = {})
      : value_(std::move(client), std::move(path), big_endian_codec<std::int64_t>(), std::move(options)) {}

  // Returns the sum.
  Task<Result<std::int64_t>> add(std::int64_t difference, Wait wait = {}) const {
    return value_.update(
        [difference](std::optional<std::int64_t> old) {
          return static_cast<std::int64_t>(static_cast<std::uint64_t>(old.value_or(0)) +
                                           static_cast<std::uint64_t>(difference));
        },
        std::move(wait));
  }
  Task<Result<std::int64_t>> set(std::int64_t value, Wait wait = {}) const {
    return value_.set(value, std::move(wait));
  }
  Task<Result<bool>> compare_and_set(std::int64_t expected, std::int64_t value, Wait wait = {}) const {
    return value_.compare_and_set(expected, value, std::move(wait));
  }
  // Empty: it was never set, which counts as zero.
  Task<Result<std::optional<std::int64_t>>> get(Wait wait = {}) const { return value_.get(std::move(wait)); }

 private:
  AtomicValue<std::int64_t> value_;
};

}  // namespace drover::recipes
