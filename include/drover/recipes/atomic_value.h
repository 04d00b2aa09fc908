// SPDX-License-Identifier: Apache-2.0
//
// A number, or any other value, that several change without losing a change.
//
//   AtomicLong hits(client, "/hits");
//   std::int64_t now = unwrap(sync_wait(hits.add(1)));
//
//   AtomicValue<Limits> limits(client, "/limits", limits_codec, {.exactly_once = true});
//   unwrap(sync_wait(limits.update([](std::optional<Limits> old) { return raise(old); })));
//
// Each change is of the value that it was computed from. When the answer to it is lost, it is not made a
// second time: it is found out whether it was done. Where that cannot be told, because the node has changed
// since, the error is maybe_applied(), and the caller knows as much as there is to know. With exactly_once it
// can always be told: each change leaves a mark in the same transaction, in <path>.ops/, for the price of
// that and of one more node for each caller; it goes with the object.
//
// Many who change one value at once make each other compute in vain. With a lock_path, who was overtaken a
// few times gets in line there (a Mutex), and those in line change the value one after the other. Who is not
// in line still may be faster; nobody's change is lost either way.
//
// A number is eight bytes, big-endian, as Curator has it, and no bytes at all are zero; sums wrap as Java's
// do.
//
// Curator: DistributedAtomicLong, DistributedAtomicInteger, DistributedAtomicValue (with PromotedToLock, at
// the same lock), which add twice when an answer is lost. kazoo: Counter (with support_curator for four
// bytes), the same.
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
  // Marks of processes that have crashed are removed by the next one, when they are older than this.
  std::chrono::milliseconds marks_kept = std::chrono::hours(24);
  std::string lock_path = {};  // none: never wait for a lock
  int tries_before_lock = 5;
};

// The bytes of a node, which need not exist.
class AtomicBytes {
 public:
  AtomicBytes(Client client, std::string path, AtomicOptions options = {});

  using Bytes = std::optional<std::string>;  // none: no node
  // From what is there to what shall be; called again when somebody else was faster. An error ends it all.
  using Change = std::function<Result<std::string>(const Bytes&)>;
  // The bytes that are there then.
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

  // None: nobody has set it.
  Task<Result<std::optional<T>>> get(Wait wait = {}) const {
    return get_with(codec_, bytes_.get(std::move(wait)));
  }
  // The value that it has then.
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
  // Only from `expected`; false: it is another one.
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

  // The sum.
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
  // None: nobody has set it, which is as good as zero.
  Task<Result<std::optional<std::int64_t>>> get(Wait wait = {}) const { return value_.get(std::move(wait)); }

 private:
  AtomicValue<std::int64_t> value_;
};

}  // namespace drover::recipes
