// SPDX-License-Identifier: Apache-2.0
//
// Snapshots byte for byte, and every way in which one can be corrupt.
#include <gtest/gtest.h>

#include "storage/snapshot_reader.h"
#include "storage/snapshot_writer.h"
#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// The empty tree as Java 3.8.0 writes it with snapshot.compression.method=gz and =snappy.
const std::string kJavaGzip = from_hex(
    "1f8b08000000000000ff8bf20ef663606060fa0f050c10c08844c3306b797e514e0a90c1969857999f970a55c280a6955cc0a55f"
    "959f"
    "9f9d9a5a905a4445530511a6ea27e7e7a565a6234932e2d4860670384400c9f0c2d2fc92442a3a9c511f44ee5864ed09e7400113"
    "b2b2"
    "a93b6d23c10a00a6d83ce5c9010000");
const std::string kJavaSnappy = from_hex(
    "82534e415050590000000001000000010000009ec903205a4b534e00000002ff0d0100000901000109070508010c01043c05776f"
    "726c"
    "6400000006616e796f6e650d2300000d3a113bde0100280a2f7a6f6f6b65657065720143fe56000d5600111956182f636f6e6669"
    "6701"
    "5d0d0101d6920100018d4a290000101d5d1071756f74610124012c0101010cea01002c012f00000000b8a23b4900000d0d0d0100"
    "020d"
    "0834000000000095b93d59000000012f");

struct Snapshots : ::testing::Test {
  Snapshots() { EXPECT_TRUE(disk.make_directories(dirs.snapshots)); }

  // The empty tree, written by us.
  std::string write_empty_tree(const SnapshotOptions& options = {}) {
    auto writer = SnapshotWriter::open(disk, dirs.snapshots, Zxid{0}, options);
    EXPECT_TRUE(writer);
    writer->begin_sessions(0);
    writer->begin_acls(1);
    std::string acl;
    wire::Writer w(acl);
    wire::encode_acl_list(w, {{wire::kRead, {"world", "anyone"}}});
    writer->acl(1, acl);
    wire::StatPersisted config;
    config.aversion = -1;
    writer->node("", "", -1, {});
    writer->node("/zookeeper", "", -1, {});
    writer->node("/zookeeper/config", "", 1, config);
    writer->node("/zookeeper/quota", "", -1, {});
    const auto name = writer->finish({.digest = SnapshotDigest{}});
    EXPECT_TRUE(name);
    return disk.contents(join_path(dirs.snapshots, *name));
  }
  IoResult<SnapshotInfo> read(std::string_view bytes) {
    sink.reset();
    MemorySource source(bytes);
    return read_snapshot(source, sink);
  }
  IoResult<SnapshotInfo> read_file_named(const std::string& name) {
    sink.reset();
    return read_snapshot(disk, dirs.snapshots, *parse_snapshot_name(name), sink);
  }
  // A snapshot with many nodes, one of them larger than the reader's window, and both optional seals.
  std::string write_large(const SnapshotOptions& options = {}) {
    auto writer = SnapshotWriter::open(disk, dirs.snapshots, Zxid{9}, options);
    writer->begin_sessions(2);
    writer->session(SessionId{-5}, 4000);
    writer->session(SessionId{7}, 30000);
    writer->begin_acls(1);
    writer->acl(1, wire::open_acl_bytes());
    for (int i = 0; i < 20000; ++i) {
      wire::StatPersisted stat;
      stat.czxid = Zxid{i};
      stat.version = -i;
      stat.ephemeral_owner = i;
      wire::Nullable data;
      const std::string large(i == 777 ? 3 << 20 : 40, 'd');
      if (i % 3 != 0) data = large;
      writer->node("/n" + std::to_string(i), data, 1, stat);
    }
    const auto name = writer->finish({.digest = SnapshotDigest{Zxid{10}, 2, 77}, .last_processed = Zxid{11}});
    EXPECT_TRUE(name);
    return *name;
  }

  MemoryDisk disk{1};
  DataDirs dirs = data_dirs("/data");
  RecordingSink sink;
};

std::string unzip(std::string_view bytes) {
  MemorySource source(bytes);
  const auto in = decompress(Compression::kGzip, source);
  std::string out(4096, '\0');
  out.resize(*in->read(out.data(), out.size()));
  return out;
}

TEST_F(Snapshots, AreByteForByteThoseOfJava) {
  EXPECT_EQ(unzip(kJavaGzip).size(), 457u);
  EXPECT_EQ(write_empty_tree(), unzip(kJavaGzip));
}

TEST_F(Snapshots, FromJavaAreReadInEveryCompression) {
  disk.set_contents("/data/version-2/snapshot.0.gz", kJavaGzip);
  disk.set_contents("/data/version-2/snapshot.0.snappy", kJavaSnappy);
  for (const char* name : {"snapshot.0.gz", "snapshot.0.snappy"}) {
    const auto info = read_file_named(name);
    ASSERT_TRUE(info) << info.error().what;
    EXPECT_EQ(info->nodes, 4u);
    EXPECT_EQ(info->digest, SnapshotDigest{});
    EXPECT_EQ(sink.nodes[2].path, "/zookeeper/config");
    EXPECT_EQ(sink.nodes[2].stat.aversion, -1);
  }
}

TEST_F(Snapshots, RoundTripInEveryCompression) {
  for (const Compression compression : {Compression::kNone, Compression::kGzip, Compression::kSnappy}) {
    const auto info = read_file_named(write_large({.compression = compression}));
    ASSERT_TRUE(info) << info.error().what;
    EXPECT_EQ(info->sessions, 2u);
    EXPECT_EQ(info->nodes, 20000u);
    EXPECT_EQ(info->digest, (SnapshotDigest{Zxid{10}, 2, 77}));
    EXPECT_EQ(info->last_processed, Zxid{11});
    EXPECT_EQ(info->newest, Zxid{19999});
    EXPECT_EQ(sink.sessions.at(-5), 4000);
    EXPECT_EQ(sink.acls.at(1), wire::open_acl_bytes());
    EXPECT_EQ(sink.nodes[3].data, std::nullopt) << "null stays null";
    EXPECT_EQ(sink.nodes[776].data->size(), 40u);
    EXPECT_EQ(sink.nodes[19999].stat.version, -19999);
  }
}

TEST_F(Snapshots, MayLackTheLaterSeals) {
  const std::string whole = write_empty_tree();
  const std::string first_seal_only = whole.substr(0, whole.size() - 33);
  const auto info = read(first_seal_only);
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_FALSE(info->digest);
}

TEST_F(Snapshots, MayHaveTheThirdSealWithoutTheSecond) {
  auto writer = SnapshotWriter::open(disk, dirs.snapshots, Zxid{5});
  writer->begin_sessions(0);
  writer->begin_acls(0);
  writer->node("", std::nullopt, -1, {});
  const auto info = read_file_named(*writer->finish({.last_processed = Zxid{6}}));
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_FALSE(info->digest);
  EXPECT_EQ(info->last_processed, Zxid{6});
}

TEST_F(Snapshots, AreCorruptIfAnyBitIsFlipped) {
  const std::string whole = write_empty_tree();
  for (std::size_t bit = 32; bit < whole.size() * 8; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const auto info = read(bytes);
    ASSERT_FALSE(info) << "bit " << bit;
    EXPECT_EQ(info.error().code, 0);
  }
}

TEST_F(Snapshots, AreCorruptIfCutAnywhereExceptBetweenSeals) {
  const std::string whole = write_empty_tree();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(read(whole.substr(0, size)).has_value(), size == whole.size() - 33) << size;
  }
}

TEST_F(Snapshots, AreCorruptWhenTheSinkRejectsThem) {
  sink.reject_path = "/zookeeper";
  const std::string whole = write_empty_tree();
  MemorySource source(whole);
  EXPECT_FALSE(read_snapshot(source, sink));
}

TEST_F(Snapshots, DoNotMakeTheReaderAllocateClaimedLengths) {
  std::string bytes;
  wire::Writer w(bytes);
  w.i32(kSnapshotMagic);
  w.i32(2);
  w.i64(-1);
  w.i32(0);
  w.i32(0);
  for (const std::int32_t length : {0x7FFFFFFF, -2, 1000}) {
    std::string claim = bytes;
    wire::Writer(claim).i32(length);
    EXPECT_FALSE(read(claim + "x"));
  }
  std::string sessions = bytes.substr(0, 16);
  wire::Writer(sessions).i32(0x7FFFFFFF);
  EXPECT_FALSE(read(sessions));
  std::string acls = bytes.substr(0, 20);
  wire::Writer aw(acls);
  aw.i32(1);
  aw.i64(1);
  aw.i32(0x7FFFFFFF);
  EXPECT_FALSE(read(acls));
}

TEST_F(Snapshots, HaveNoNameBeforeTheyAreComplete) {
  auto writer = SnapshotWriter::open(disk, dirs.snapshots, Zxid{5});
  writer->begin_sessions(0);
  EXPECT_TRUE(list_snapshots(disk, dirs.snapshots)->empty());
  {
    auto dropped = *std::move(writer);
  }
  EXPECT_TRUE(disk.list(dirs.snapshots)->empty()) << "an abandoned file is removed";
}

TEST_F(Snapshots, AreAbandonedWhenTheDiskFails) {
  for (const int error : {ENOSPC, EIO}) {
    for (const DiskOperation operation :
         {DiskOperation::kWrite, DiskOperation::kSync, DiskOperation::kRename}) {
      disk.inject({.error = error, .only = operation});
      {
        auto writer = SnapshotWriter::open(disk, dirs.snapshots, Zxid{5});
        writer->begin_sessions(0);
        writer->begin_acls(0);
        const auto name = writer->finish();
        ASSERT_FALSE(name);
        EXPECT_EQ(name.error().code, error);
      }
      EXPECT_TRUE(disk.list(dirs.snapshots)->empty());
    }
  }
}

TEST_F(Snapshots, AreDurableOnceTheyHaveAName) {
  write_large();
  disk.crash(Survival::kLose);
  EXPECT_TRUE(verify_snapshot(disk, dirs.snapshots, *parse_snapshot_name("snapshot.9")));
}

}  // namespace
}  // namespace drover::storage::testing
