// SPDX-License-Identifier: Apache-2.0
//
// The disk of a fuzzed server: a snapshot and the transactions after it, in memory. It executes the orders of
// agreement like a journal, and can reload the state.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/ids.h"
#include "replica/member.h"
#include "replica/snapshot_cursor.h"
#include "replica/state_builder.h"
#include "state/machine.h"
#include "storage/recovery_sink_adapter.h"
#include "storage/snapshot_body.h"
#include "storage/snapshot_stream.h"
#include "wire/txns.h"

namespace drover::fuzz {

constexpr std::size_t kRecordBytesMax = 4096;

// The whole state, as a leader streams it.
inline std::string streamed(state::Machine& machine) {
  using Progress = replica::SnapshotCursor::Progress;
  replica::SnapshotCursor cursor(machine);
  const replica::SnapshotBeginning beginning = cursor.begin();
  std::string out;
  storage::append_snapshot_sessions(out, beginning.sessions);
  storage::append_snapshot_acls(out, beginning.acls);
  replica::SnapshotNodes nodes;
  auto progress = Progress::kMore;
  while (progress == Progress::kMore) {
    progress = cursor.step(nodes);
    nodes.for_each([&](const auto&... node) { storage::append_snapshot_node(out, node...); });
  }
  storage::append_snapshot_stream_end(out);
  return out;
}

class Receiver final : public replica::StateReceiver {
 public:
  void begin(replica::StateBuilder& builder) override {
    sink_.emplace(builder);
    reader_.emplace(*sink_, storage::SnapshotLimits{.record_bytes_max = kRecordBytesMax});
  }
  std::optional<std::size_t> feed(std::string_view bytes) override {
    const auto taken = reader_->feed(bytes);
    return taken ? std::optional(*taken) : std::nullopt;
  }
  bool done() const override { return reader_->done(); }

 private:
  std::optional<storage::RecoverySinkAdapter<replica::StateBuilder>> sink_;
  std::optional<storage::SnapshotStreamReader> reader_;
};

class Disk {
 public:
  explicit Disk(state::Machine& machine) : machine_(machine) {}

  void append(const zab::TxnBatch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i)
      log_.emplace_back(wire::zxid_of_entry(batch.entry(i)), batch.entry(i));
  }
  // False: it cannot be truncated there and is unchanged.
  bool truncate(Zxid last) {
    if (last < snapshot_zxid_) return false;
    std::erase_if(log_, [&](const auto& entry) { return entry.first > last; });
    return true;
  }
  void replace(Zxid zxid) {
    log_.clear();
    snapshot_zxid_ = zxid;
    snapshot_ = streamed(machine_);
  }
  void discard() {
    log_.clear();
    snapshot_zxid_ = Zxid{0};
    snapshot_.clear();
    replica::StateBuilder builder(machine_);
    builder.reset();
    builder.finish();
  }
  // Returns whether the state is exact. nullopt: it cannot be read; a starting server would notice that.
  std::optional<bool> reload() {
    replica::StateBuilder builder(machine_);
    builder.reset();
    if (!snapshot_.empty()) {
      Receiver receiver;
      receiver.begin(builder);
      const auto taken = receiver.feed(snapshot_);
      if (!taken || !receiver.done()) return std::nullopt;
      builder.loaded(snapshot_zxid_);
    }
    for (const auto& [zxid, entry] : log_) {
      if (!builder.txn(zxid, entry)) return std::nullopt;
    }
    builder.finish();
    return builder.is_exact();
  }

 private:
  state::Machine& machine_;
  Zxid snapshot_zxid_{};
  std::string snapshot_;
  std::vector<std::pair<Zxid, std::string>> log_;
};

}  // namespace drover::fuzz
