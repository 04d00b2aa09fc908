// SPDX-License-Identifier: Apache-2.0
//
// Shared by the storage tests: recognisable entries, a sink that records, and a data directory in memory in
// which snapshot and log describe the same simple history: transaction N adds the node "/N". So a recovered
// state must be exactly the transactions 1 to N for some N.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "base/random.h"
#include "storage/data_dir.h"
#include "storage/file_names.h"
#include "storage/log_format.h"
#include "storage/memory_disk.h"
#include "storage/recovery.h"
#include "storage/snapshot_writer.h"
#include "storage/txn_log_writer.h"

namespace drover::storage::testing {

constexpr Zxid zx(std::uint32_t epoch, std::uint32_t counter) {
  return Zxid{static_cast<std::int64_t>((std::uint64_t{epoch} << 32) | counter)};
}

// An entry whose length and bytes depend on its zxid only.
inline std::string entry(Zxid zxid, std::size_t payload_max = 700) {
  std::string bytes;
  wire::Writer w(bytes);
  w.i64(0x1234);
  w.i32(7);
  w.i64(raw(zxid));
  w.i64(1700000000000);
  w.i32(1);
  Random random(static_cast<std::uint64_t>(raw(zxid)));
  const std::size_t n = random.below(payload_max + 1);
  for (std::size_t i = 0; i < n; ++i) bytes.push_back(static_cast<char>(random.next()));
  return bytes;
}

inline wire::TxnBatch batch(const std::vector<Zxid>& zxids, std::size_t payload_max = 700) {
  wire::TxnBatch b;
  for (const Zxid zxid : zxids) b.add(zxid, entry(zxid, payload_max));
  return b;
}

// Counters `first` to `last` of an epoch.
inline std::vector<Zxid> range(std::uint32_t epoch, std::uint32_t first, std::uint32_t last) {
  std::vector<Zxid> zxids;
  for (std::uint32_t c = first; c <= last; ++c) zxids.push_back(zx(epoch, c));
  return zxids;
}

inline std::vector<Zxid> joined(std::vector<Zxid> a, const std::vector<Zxid>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class RecordingSink final : public RecoverySink {
 public:
  void reset() override { *this = RecordingSink(); }
  bool session(SessionId id, std::int32_t timeout_ms) override {
    sessions[raw(id)] = timeout_ms;
    return true;
  }
  bool acl(std::int64_t key, std::string_view jute_list) override {
    acls[key] = jute_list;
    return true;
  }
  bool node(std::string_view path, const wire::Nullable& data, std::int64_t acl,
            const wire::StatPersisted& stat) override {
    if (path == reject_path) return false;
    nodes.push_back({std::string(path), data ? std::optional<std::string>(*data) : std::nullopt, acl, stat});
    if (!path.empty()) history.push_back(stat.czxid);
    return true;
  }
  void snapshot_loaded(Zxid, const std::optional<SnapshotDigest>& d) override { digest = d; }
  bool txn(Zxid zxid, std::string_view bytes) override {
    if (bytes != entry(zxid, payload_max)) altered = true;
    history.push_back(zxid);
    return true;
  }

  struct Node {
    std::string path;
    std::optional<std::string> data;
    std::int64_t acl;
    wire::StatPersisted stat;
    friend bool operator==(const Node&, const Node&) = default;
  };
  std::map<std::int64_t, std::int32_t> sessions;
  std::map<std::int64_t, std::string> acls;
  std::vector<Node> nodes;
  std::vector<Zxid> history;  // the snapshot's nodes, then the log
  std::optional<SnapshotDigest> digest;
  bool altered = false;
  std::size_t payload_max = 700;
  std::string reject_path = "\n";
};

// A snapshot of the history up to its last element, named after that zxid.
inline IoResult<std::string> write_snapshot(Disk& disk, const DataDirs& dirs,
                                            const std::vector<Zxid>& history,
                                            const SnapshotOptions& options = {}) {
  const Zxid last = history.empty() ? Zxid{0} : history.back();
  TRY_ASSIGN(SnapshotWriter writer, SnapshotWriter::open(disk, dirs.snapshots, last, options));
  writer.begin_sessions(1);
  writer.session(SessionId{0x1234}, 30000);
  writer.begin_acls(1);
  writer.acl(1, wire::open_acl_bytes());
  writer.node("", "", 1, {});
  for (const Zxid zxid : history) {
    wire::StatPersisted stat;
    stat.czxid = stat.mzxid = stat.pzxid = zxid;
    writer.node("/" + hex(zxid), hex(zxid), 1, stat);
  }
  return writer.finish({.digest = SnapshotDigest{last, kDigestVersion, 42}, .last_processed = last});
}

// A data directory with an empty snapshot, and a writer for it.
struct Store {
  explicit Store(std::uint64_t seed = 1) : disk(seed) {
    ENSURE(disk.make_directories(dirs.snapshots).has_value(), "an empty disk has room");
    ENSURE(write_snapshot(disk, dirs, {}).has_value(), "an empty disk has room");
  }

  // Like a restart: recovers, and opens the writer at the end of the recovered log.
  RecoveryReport start(const RecoveryOptions& recovery = {}) {
    writer.reset();
    auto report = recover(disk, dirs, recovery, sink);
    EXPECT_TRUE(report.has_value()) << report.error().what;
    if (!report) return {};
    if (!report->damaged()) {
      auto opened = TxnLogWriter::open(disk, dirs.logs, report->tail, options);
      EXPECT_TRUE(opened.has_value()) << opened.error().what;
      if (opened) writer.emplace(*std::move(opened));
    }
    return *report;
  }

  void log(const std::vector<Zxid>& zxids) {
    if (!writer) start();
    ASSERT_TRUE(writer->append(batch(zxids)));
    ASSERT_TRUE(writer->sync());
  }

  std::string log_path(Zxid first) const { return join_path(dirs.logs, log_name(first)); }
  std::string snapshot_path(Zxid zxid) const {
    return join_path(dirs.snapshots, snapshot_name(zxid, Compression::kNone));
  }
  std::string links_path() const { return join_path(dirs.logs, kLogLinksName); }

  MemoryDisk disk;
  DataDirs dirs = data_dirs("/data");
  TxnLogOptions options{.preallocate_bytes = 4096};
  RecordingSink sink;
  std::optional<TxnLogWriter> writer;
};

}  // namespace drover::storage::testing
