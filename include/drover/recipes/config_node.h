// SPDX-License-Identifier: Apache-2.0
//
// Configuration in a node: one process publishes it, all others follow.
//
//   ConfigNode<Limits> config(client, "/app/limits", limits_codec);
//   unwrap(sync_wait(config.start(Wait::within(5s))));
//   apply(config.current());                              // empty: nothing was published
//   for (;;) {
//     auto next = co_await config.next(wait);             // the newest; some between may be skipped
//     if (next) apply(*next);                             // kBadData: current() is still the last good one
//   }
//
// It follows the node as NodeCache does: values have growing mzxids, deletion is one of them, and after each
// reconnect the node is read again. Bytes that cannot be decoded are reported once and do not replace the
// last good value.
//
// Curator: NodeCache, SharedValue. kazoo: DataWatch.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "drover/client.h"
#include "drover/recipes/codec.h"
#include "drover/recipes/node_cache.h"
#include "drover/recipes/settled.h"

namespace drover::recipes {

template <class T>
class ConfigNode {
 public:
  ConfigNode(Client client, std::string path, Codec<T> codec)
      : node_(client, path),
        shared_(std::make_shared<Shared>(Shared{std::move(client), std::move(path), std::move(codec)})) {}

  // Starts, and returns when it has been read once.
  Task<Result<void>> start(Wait wait = {}) { return node_.start(std::move(wait)); }

  // The last known good value.
  std::optional<T> current() const {
    const std::optional<NodeData> node = node_.current();
    const std::lock_guard lock(shared_->mutex);
    return shared_->take(node).value_or(shared_->good);
  }
  // Waits for a value that next() has not returned yet. For one reader.
  Task<Result<std::optional<T>>> next(Wait wait = {}) {
    return next_of(shared_, node_.next(std::move(wait)));
  }

  // Creates the node if needed. With a version, only if it is the current one; otherwise kBadVersion. A lost
  // reply is resolved; if that is impossible, the error is maybe_applied().
  Task<Result<Stat>> publish(const T& value, Version expected = Version::kAny, Wait wait = {}) const {
    return write_settled(shared_->client, shared_->path, shared_->codec.encode(value), expected,
                         std::move(wait));
  }

 private:
  struct Shared {
    Client client;
    std::string path;
    Codec<T> codec;
    std::mutex mutex{};
    std::optional<T> good{};
    Zxid decoded{};  // mzxid of the bytes of `good`

    Shared(Client c, std::string p, Codec<T> k)
        : client(std::move(c)), path(std::move(p)), codec(std::move(k)) {}
    Shared(Shared&& other) noexcept
        : client(other.client), path(std::move(other.path)), codec(std::move(other.codec)) {}

    Result<std::optional<T>> take(const std::optional<NodeData>& node) {
      if (!node) return good = std::nullopt;
      if (good && decoded == node->stat.mzxid) return good;
      Result<T> value = codec.decode(node->data);
      if (!value) return fail(Errc::kBadData, path, value.error().detail);
      decoded = node->stat.mzxid;
      return good = *std::move(value);
    }
  };
  static Task<Result<std::optional<T>>> next_of(std::shared_ptr<Shared> shared,
                                                Task<Result<std::optional<NodeData>>> reading) {
    const Result<std::optional<NodeData>> node = co_await std::move(reading);
    if (!node) co_return std::unexpected(node.error());
    const std::lock_guard lock(shared->mutex);
    co_return shared->take(*node);
  }

  NodeCache node_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace drover::recipes
