// SPDX-License-Identifier: Apache-2.0
//
// Test support for the tools: encoded transactions, and a data directory in memory to put them
// into.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/ensure.h"
#include "storage/data_dir.h"
#include "storage/memory_disk.h"
#include "storage/recovery.h"
#include "storage/snapshot_writer.h"
#include "storage/txn_log_writer.h"
#include "tools/context.h"
#include "wire/txns.h"

namespace drover::tools::testing {

inline constexpr SessionId kSession{0x77};

inline wire::TxnHeader header(std::int64_t zxid, wire::OpCode type) {
  return {.session = kSession,
          .cxid = static_cast<std::int32_t>(zxid),
          .zxid = Zxid{zxid},
          .time_ms = 1000 * zxid,
          .type = type};
}

template <class Encode>
std::string entry(std::int64_t zxid, wire::OpCode type, Encode encode_record) {
  std::string bytes;
  wire::Writer w(bytes);
  encode(w, header(zxid, type));
  encode_record(w);
  return bytes;
}

inline std::string create(std::int64_t zxid, std::string_view path, std::string_view data,
                          bool ephemeral = false) {
  return entry(zxid, wire::OpCode::kCreate, [&](wire::Writer& w) {
    encode(w, wire::OpCode::kCreate,
           {.path = path, .data = data, .acl = wire::open_acl_bytes(), .ephemeral = ephemeral});
  });
}
inline std::string set_data(std::int64_t zxid, std::string_view path, std::string_view data,
                            std::int32_t version) {
  return entry(zxid, wire::OpCode::kSetData,
               [&](wire::Writer& w) { encode(w, wire::SetDataTxn{path, data, version}); });
}
inline std::string remove(std::int64_t zxid, std::string_view path) {
  return entry(zxid, wire::OpCode::kDelete, [&](wire::Writer& w) { encode(w, wire::DeleteTxn{path}); });
}
inline std::string close_session(std::int64_t zxid, const std::vector<std::string>& paths) {
  return entry(zxid, wire::OpCode::kCloseSession, [&](wire::Writer& w) { wire::encode_paths(w, paths); });
}
struct Part {
  wire::OpCode type{};
  std::string record;
};
inline std::string multi(std::int64_t zxid, const std::vector<Part>& parts) {
  return entry(zxid, wire::OpCode::kMulti, [&](wire::Writer& w) {
    w.i32(static_cast<std::int32_t>(parts.size()));
    for (const Part& part : parts) {
      w.i32(static_cast<std::int32_t>(part.type));
      w.string(part.record);
    }
  });
}

// /data with an empty snapshot and the logged transactions.
struct Directory {
  Directory() {
    ENSURE(disk.make_directories(dirs.snapshots).has_value(), "an empty disk has room");
    snapshot(Zxid{0});
  }

  // A snapshot of the empty tree, for tests that only need its zxid.
  void snapshot(Zxid zxid) {
    auto writer = storage::SnapshotWriter::open(disk, dirs.snapshots, zxid);
    ENSURE(writer.has_value(), "an empty disk has room");
    writer->begin_sessions(0);
    writer->begin_acls(0);
    writer->node("", "", -1, {});
    ENSURE(writer->finish().has_value(), "an empty disk has room");
  }

  // Each call is one run of the server and writes one log file.
  void log(const std::vector<std::string>& entries) {
    class Ignore final : public storage::RecoverySink {
     public:
      bool session(SessionId, std::int32_t) override { return true; }
      bool acl(std::int64_t, std::string_view) override { return true; }
      bool node(std::string_view, const wire::Nullable&, std::int64_t, const wire::StatPersisted&) override {
        return true;
      }
      void reset() override {}
      void snapshot_loaded(Zxid, const std::optional<storage::SnapshotDigest>&) override {}
      bool txn(Zxid, std::string_view) override { return true; }
    } sink;
    const auto report = storage::recover(disk, dirs, {}, sink);
    ASSERT_TRUE(report.has_value());
    auto writer = storage::TxnLogWriter::open(disk, dirs.logs, report->tail, {.preallocate_bytes = 4096});
    ASSERT_TRUE(writer.has_value());
    wire::TxnBatch batch;
    for (const std::string& bytes : entries) batch.add(wire::zxid_of_entry(bytes), bytes);
    ASSERT_TRUE(writer->append(batch).has_value());
    ASSERT_TRUE(writer->sync().has_value());
  }

  std::string path_of(const std::string& name) const { return storage::join_path(dirs.logs, name); }
  void zero(const std::string& name, std::size_t offset, std::size_t bytes) {
    std::string content = disk.contents(path_of(name));
    content.replace(offset, bytes, bytes, '\0');
    disk.set_contents(path_of(name), content);
  }

  storage::MemoryDisk disk{1};
  storage::DataDirs dirs = storage::data_dirs("/data");
  Output out;
  Output notes;
  Context context{disk, out, notes};
};

}  // namespace drover::tools::testing
