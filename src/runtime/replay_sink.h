// SPDX-License-Identifier: Apache-2.0
//
// Recovery on two threads: the caller's thread reads and checks the log, the other applies the transactions.
//
// After a crash every client waits for recovery, and reading is a fifth of the work.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/time.h"
#include "replica/state_builder.h"
#include "storage/recovery.h"
#include "storage/recovery_sink_adapter.h"

namespace drover::server {

class ReplaySink final : public storage::RecoverySink {
 public:
  // The builder outlives the sink. Only the sink uses it until finish().
  explicit ReplaySink(replica::StateBuilder& builder);
  ~ReplaySink() override { finish(); }

  void reset() override;
  bool session(SessionId id, std::int32_t timeout_ms) override { return sink_.session(id, timeout_ms); }
  bool acl(std::int64_t key, std::string_view jute_list) override { return sink_.acl(key, jute_list); }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override {
    return sink_.node(path, data, acl, stat);
  }
  void snapshot_loaded(Zxid zxid, const std::optional<storage::SnapshotDigest>& digest) override;
  // False: this or an earlier transaction cannot be applied.
  bool txn(Zxid zxid, std::string_view entry) override;

  // Waits until everything is applied. False: a transaction could not be applied. The position that recovery
  // reported is then a few transactions too late, and recovery must be repeated transaction by transaction.
  bool finish();

  // The time when the snapshot was loaded.
  Instant loaded_at() const { return loaded_at_; }

 private:
  struct Batch {
    std::string bytes;
    std::vector<std::size_t> ends;
  };

  bool hand_over();
  void run();
  bool apply(const Batch& batch);

  replica::StateBuilder& builder_;
  storage::RecoverySinkAdapter<replica::StateBuilder> sink_;
  Instant loaded_at_;
  Batch gathering_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> queue_;
  bool all_read_ = false;
  bool failed_ = false;
};

}  // namespace drover::server
