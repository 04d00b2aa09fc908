// SPDX-License-Identifier: Apache-2.0
//
// Adapts a state builder to RecoverySink, for recovery of the data directory and for a leader's snapshot
// stream.
//
// It is a template because storage and the state do not know each other: the code that joins them (the
// server, the simulator, a tool) names the builder. A builder has RecoverySink's functions without `virtual`,
// with loaded() instead of snapshot_loaded(), and a type Digest{zxid, version, tree}.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "storage/recovery.h"
#include "storage/snapshot_format.h"

namespace drover::storage {

template <class Builder>
class RecoverySinkAdapter final : public RecoverySink {
 public:
  // The builder outlives the adapter.
  explicit RecoverySinkAdapter(Builder& builder) : builder_(builder) {}

  void reset() override { builder_.reset(); }
  bool session(SessionId id, std::int32_t timeout_ms) override { return builder_.session(id, timeout_ms); }
  bool acl(std::int64_t key, std::string_view jute_list) override { return builder_.acl(key, jute_list); }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override {
    return builder_.node(path, data, acl, stat);
  }
  void snapshot_loaded(Zxid zxid, const std::optional<SnapshotDigest>& digest) override {
    using Digest = typename Builder::Digest;
    builder_.loaded(
        zxid, digest ? std::optional(Digest{digest->zxid, digest->version, digest->tree}) : std::nullopt);
  }
  bool txn(Zxid zxid, std::string_view entry) override { return builder_.txn(zxid, entry); }

 private:
  Builder& builder_;
};

}  // namespace drover::storage
