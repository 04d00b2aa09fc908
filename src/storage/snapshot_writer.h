// SPDX-License-Identifier: Apache-2.0
//
// Writes a snapshot as a stream: it walks the tree once and never holds a second copy in memory.
//
// The file gets its final name only when it is complete and synced, so every visible snapshot is a finished
// one. The first error is kept: later calls do nothing, and finish() returns it.
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
  bool incoming = false;  // finish() names it incoming_name(), which recovery does not take for history
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
  // Removes an unfinished file.
  ~SnapshotWriter();

  // In this order: sessions, ACLs, nodes. The counts must be exact.
  void begin_sessions(std::uint32_t count);
  void session(SessionId id, std::int32_t timeout_ms);
  void begin_acls(std::uint32_t count);
  void acl(std::int64_t key, std::string_view jute_list);
  void node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat);

  bool failed() const;
  // Bytes written to the file since its last sync. If the log is on the same disk, its next sync waits for
  // them, so a caller that writes while a log is in use calls sync() every now and then.
  std::uint64_t unsynced_bytes() const;
  void sync();
  // Seals, syncs and names the file; returns the name. finish() takes the seals because the digest of a fuzzy
  // snapshot is the one at its end.
  IoResult<std::string> finish(const SnapshotSeals& seals = {});

 private:
  struct State;
  explicit SnapshotWriter(std::unique_ptr<State> state);

  void flush_if_large();

  std::unique_ptr<State> state_;
};

}  // namespace drover::storage
