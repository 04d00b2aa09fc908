// SPDX-License-Identifier: Apache-2.0
//
// Writes a snapshot as a stream: the tree is walked once and never held twice in memory.
//
// The file gets its name only when it is whole and synced, so a snapshot that can be seen is a snapshot
// that was finished. Errors are kept, later calls do nothing, and finish() returns the first one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "storage/compression.h"
#include "storage/disk.h"
#include "storage/snapshot_format.h"
#include "wire/jute.h"

namespace drover::storage {

struct SnapshotOptions {
  Compression compression = Compression::kNone;
  bool incoming = false;  // it ends under incoming_name(), where no recovery takes it for history
};

struct SnapshotSeals {
  std::optional<SnapshotDigest> digest{};
  std::optional<Zxid> last_processed{};
};

class SnapshotWriter {
 public:
  static IoResult<SnapshotWriter> open(Disk& disk, const std::string& directory, Zxid zxid,
                                       const SnapshotOptions& options = {});
  SnapshotWriter(SnapshotWriter&&) noexcept;
  SnapshotWriter& operator=(SnapshotWriter&&) = delete;
  // An unfinished file is removed.
  ~SnapshotWriter();

  // In this order: sessions, ACLs, nodes. The counts must come true.
  void begin_sessions(std::uint32_t count);
  void session(SessionId id, std::int32_t timeout_ms);
  void begin_acls(std::uint32_t count);
  void acl(std::int64_t key, std::string_view jute_list);
  void node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat);

  bool failed() const;
  // Handed to the file since it was last synced. What gathers there the log's next sync waits for when both
  // are on one disk, so whoever writes beside a log calls sync() every now and then.
  std::uint64_t unsynced_bytes() const;
  void sync();
  // Seals, syncs and names the file; returns that name. The seals are taken here because a fuzzy
  // snapshot's digest is the one at its end.
  IoResult<std::string> finish(const SnapshotSeals& seals = {});

 private:
  struct State;
  explicit SnapshotWriter(std::unique_ptr<State> state);

  void flush_if_large();

  std::unique_ptr<State> state_;
};

}  // namespace drover::storage
