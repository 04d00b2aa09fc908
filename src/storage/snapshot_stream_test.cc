// SPDX-License-Identifier: Apache-2.0
//
// A leader's snapshot as it arrives: in pieces of any size, with packets after it, and corrupt in every way.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "storage/recovery_sink_adapter.h"
#include "storage/snapshot_stream.h"
#include "storage/testing.h"

namespace drover::storage::testing {
namespace {

constexpr std::string_view kPacketsBehind = "\0\0\0\nthe next packets";

std::string acl_list(std::size_t elements) {
  std::vector<wire::Acl> list;
  for (std::size_t i = 0; i < elements; ++i) list.push_back({31, {"digest", "user" + std::to_string(i)}});
  std::string bytes;
  wire::Writer w(bytes);
  wire::encode_acl_list(w, list);
  return bytes;
}

struct Table {
  std::string bytes;
};

// Two sessions, two lists, and `nodes` nodes: some have much data, some have empty data, some have null.
std::string stream_of(int nodes) {
  const Table small{acl_list(1)};
  const Table large{acl_list(300)};
  std::string out;
  append_snapshot_sessions(
      out, std::vector<std::pair<SessionId, std::int32_t>>{{SessionId{-5}, 4000}, {SessionId{7}, 30000}});
  append_snapshot_acls(out, std::vector<std::pair<std::int64_t, const Table*>>{{1, &small}, {2, &large}});
  append_snapshot_node(out, "", "", -1, {});
  for (int i = 0; i < nodes; ++i) {
    wire::StatPersisted stat;
    stat.czxid = Zxid{i};
    stat.version = -i;
    const std::string data(i % 50 == 7 ? 5000 : 40 * (i % 3), 'd');
    append_snapshot_node(out, "/n" + std::to_string(i), i % 4 == 0 ? wire::Nullable{} : wire::Nullable{data},
                         1 + i % 2, stat);
  }
  append_snapshot_stream_end(out);
  return out;
}

// Like a network link: keeps the bytes that were not taken and appends new ones.
struct Link {
  explicit Link(const SnapshotLimits& limits = {}) : reader(sink, limits) {}

  // Returns false on an error.
  bool arrive(std::string_view bytes) {
    buffer.append(bytes);
    const bool was_done = reader.done();
    const std::size_t needed = reader.needed();
    const auto taken = reader.feed(buffer);
    if (!taken) {
      EXPECT_EQ(taken.error().code, 0);
      error = taken.error().what;
      return false;
    }
    EXPECT_LE(*taken, buffer.size());
    if (was_done || buffer.size() < needed) {
      EXPECT_EQ(*taken, 0u);
    }
    buffer.erase(0, *taken);
    if (!reader.done()) {
      EXPECT_GT(reader.needed(), buffer.size()) << "complete records are parsed at once";
    }
    held_max = std::max(held_max, buffer.size());
    return true;
  }

  RecordingSink sink;
  SnapshotStreamReader reader;
  std::string buffer;
  std::string error;
  std::size_t held_max = 0;
};

void expect_same(const RecordingSink& left, const RecordingSink& right) {
  EXPECT_EQ(left.sessions, right.sessions);
  EXPECT_EQ(left.acls, right.acls);
  EXPECT_EQ(left.nodes, right.nodes);
}

TEST(SnapshotStream, DeliversEverythingAndLeavesThePacketsThatFollow) {
  Link link;
  ASSERT_TRUE(link.arrive(stream_of(200) + std::string(kPacketsBehind))) << link.error;
  EXPECT_TRUE(link.reader.done());
  EXPECT_EQ(link.buffer, kPacketsBehind);
  EXPECT_TRUE(link.arrive("more")) << "bytes after it are not checked";
  EXPECT_EQ(link.sink.sessions.at(-5), 4000);
  EXPECT_EQ(link.sink.acls.at(2), acl_list(300));
  ASSERT_EQ(link.sink.nodes.size(), 201u);
  EXPECT_EQ(link.sink.nodes[0].path, "");
  EXPECT_EQ(link.sink.nodes[0].data, "");
  EXPECT_EQ(link.sink.nodes[1].data, std::nullopt) << "null stays null";
  EXPECT_EQ(link.sink.nodes[200].stat.version, -199);
  EXPECT_EQ(link.reader.info().nodes, 201u);
  EXPECT_EQ(link.reader.info().newest, Zxid{199});
}

TEST(SnapshotStream, DeliversTheSameInPiecesOfAnySize) {
  const std::string bytes = stream_of(200) + std::string(kPacketsBehind);
  Link whole;
  ASSERT_TRUE(whole.arrive(bytes));
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Link link;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t n = seed == 0 ? 1 : 1 + random.below(std::size_t{4} << (seed % 12));
      ASSERT_TRUE(link.arrive(std::string_view(bytes).substr(at, n))) << link.error;
      at += n;
    }
    EXPECT_TRUE(link.reader.done());
    EXPECT_EQ(link.buffer, kPacketsBehind);
    expect_same(link.sink, whole.sink);
  }
}

TEST(SnapshotStream, IsCompleteOnlyWithItsLastByte) {
  const std::string bytes = stream_of(3);
  Link link;
  ASSERT_TRUE(link.arrive(std::string_view(bytes).substr(0, bytes.size() - 1)));
  EXPECT_FALSE(link.reader.done());
  ASSERT_TRUE(link.arrive(bytes.substr(bytes.size() - 1)));
  EXPECT_TRUE(link.reader.done());
}

TEST(SnapshotStream, EndsLikeJavas) {
  std::string end;
  append_snapshot_stream_end(end);
  EXPECT_EQ(end, std::string("\0\0\0\1/\0\0\0\x0a"
                             "BenWasHere",
                             19));
}

TEST(SnapshotStream, WithoutItsSignatureIsRefusedAtTheFirstWrongByte) {
  const std::string bytes = stream_of(3);
  const std::size_t start = bytes.size() - 14;
  for (std::size_t i = start; i < bytes.size(); ++i) {
    Link link;
    std::string wrong = bytes.substr(0, i + 1);
    wrong.back() = static_cast<char>(wrong.back() ^ 1);
    EXPECT_FALSE(link.arrive(wrong)) << i;
    EXPECT_FALSE(link.reader.done());
  }
}

TEST(SnapshotStream, AcceptsNothingAfterAnError) {
  Link link;
  link.sink.reject_path = "/n1";
  const std::string bytes = stream_of(9);
  ASSERT_FALSE(link.arrive(bytes));
  const std::size_t seen = link.sink.nodes.size();
  EXPECT_EQ(seen, 2u) << "the root and /n0";
  link.sink.reject_path = "\n";
  EXPECT_FALSE(link.arrive(""));
  EXPECT_FALSE(link.arrive(bytes));
  EXPECT_EQ(link.sink.nodes.size(), seen);
}

// The start of a stream, up to the nodes.
std::string empty_tables() {
  std::string out;
  append_snapshot_count(out, 0);
  append_snapshot_count(out, 0);
  return out;
}

TEST(SnapshotStream, RefusesImpossibleLengthsWithoutWaitingForTheirBytes) {
  for (const std::int32_t length : {-2, -1, 0x7FFFFFFF}) {
    std::string path = empty_tables();
    wire::Writer(path).i32(length);
    EXPECT_FALSE(Link().arrive(path)) << "path of " << length;
  }
  for (const std::int32_t length : {-2, 0x7FFFFFFF}) {
    std::string data = empty_tables();
    wire::Writer w(data);
    w.string("/a");
    w.i32(length);
    EXPECT_FALSE(Link().arrive(data)) << "data of " << length;

    std::string acl;
    append_snapshot_count(acl, 0);
    append_snapshot_count(acl, 1);
    wire::Writer aw(acl);
    aw.i64(1);
    aw.i32(1);
    aw.i32(31);
    aw.i32(length);
    aw.i32(0);
    EXPECT_FALSE(Link().arrive(acl)) << "scheme of " << length;
  }
}

TEST(SnapshotStream, RefusesAnAclThatClaimsMoreElementsThanARecordCanHold) {
  std::string acl;
  append_snapshot_count(acl, 0);
  append_snapshot_count(acl, 1);
  wire::Writer w(acl);
  w.i64(1);
  w.i32(0x7FFFFFFF);
  EXPECT_FALSE(Link().arrive(acl));
}

TEST(SnapshotStream, NeverBuffersARecordAboveTheLimit) {
  const std::size_t node_overhead = 4 + 2 + 4 + 8 + wire::kStatPersistedBytes;
  for (const std::size_t excess : {0u, 1u}) {
    const std::string data(1000 + excess, 'd');
    std::string bytes = empty_tables();
    append_snapshot_node(bytes, "/a", data, -1, {});
    append_snapshot_stream_end(bytes);
    const SnapshotLimits limits{.record_bytes_max = 1000 + node_overhead};
    EXPECT_EQ(Link(limits).arrive(bytes), excess == 0) << "at once";
    Link slow(limits);
    bool ok = true;
    for (std::size_t i = 0; i < bytes.size() && ok; ++i) ok = slow.arrive(bytes.substr(i, 1));
    EXPECT_EQ(ok, excess == 0) << "byte by byte";
    EXPECT_LE(slow.held_max, limits.record_bytes_max);
  }
  const std::string list = acl_list(20);
  for (const std::size_t excess : {0u, 1u}) {
    std::string bytes;
    append_snapshot_count(bytes, 0);
    append_snapshot_count(bytes, 1);
    append_snapshot_acl(bytes, 1, list);
    EXPECT_EQ(Link({.record_bytes_max = 8 + list.size() - excess}).arrive(bytes), excess == 0);
  }
}

TEST(SnapshotStream, AcceptsANodeFromALeaderWithALargerJuteMaxbuffer) {
  std::string bytes = empty_tables();
  append_snapshot_node(bytes, "/a", std::string(20 << 20, 'd'), -1, {});
  append_snapshot_stream_end(bytes);
  EXPECT_TRUE(Link().arrive(bytes));
}

TEST(SnapshotStream, NegativeCountsAreEmptyAsInJava) {
  std::string bytes;
  wire::Writer w(bytes);
  w.i32(-1);
  w.i32(-7);
  append_snapshot_stream_end(bytes);
  Link link;
  EXPECT_TRUE(link.arrive(bytes)) << link.error;
  EXPECT_TRUE(link.reader.done());
}

TEST(SnapshotStream, GarbageNeverCrashesItOrExceedsItsBufferLimit) {
  const std::string bytes = stream_of(20);
  const SnapshotLimits limits{.record_bytes_max = 8 << 10};
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    std::string wrong = bytes;
    for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      wrong[random.below(wrong.size())] = static_cast<char>(random.next());
    }
    Link link(limits);
    for (std::size_t at = 0; at < wrong.size(); at += 100) {
      if (!link.arrive(std::string_view(wrong).substr(at, 100))) break;
      if (!link.reader.done()) {
        ASSERT_LE(link.reader.needed(), limits.record_bytes_max);
      }
    }
  }
}

// Looks like replica::StateBuilder.
struct FakeBuilder {
  struct Digest {
    Zxid zxid;
    std::int32_t version;
    std::uint64_t tree;
  };
  void reset() { calls += "reset "; }
  bool session(SessionId, std::int32_t) { return accept("session "); }
  bool acl(std::int64_t, std::string_view) { return accept("acl "); }
  bool node(std::string_view path, const wire::Nullable&, std::int64_t, const wire::StatPersisted&) {
    return accept("node" + std::string(path) + " ");
  }
  void loaded(Zxid zxid, const std::optional<Digest>& digest) {
    calls += "loaded:" + hex(zxid);
    if (digest) {
      calls += ":" + hex(digest->zxid) + ":" + std::to_string(digest->version) + ":" +
               std::to_string(digest->tree);
    }
    calls += " ";
  }
  bool txn(Zxid zxid, std::string_view) { return accept("txn:" + hex(zxid) + " "); }

  bool accept(const std::string& call) {
    calls += call;
    return !refuses;
  }
  std::string calls;
  bool refuses = false;
};

TEST(RecoverySinkAdapter, PassesToTheBuilderWhatRecoveryReads) {
  Store store;
  store.log(range(1, 1, 2));
  FakeBuilder builder;
  RecoverySinkAdapter sink(builder);
  ASSERT_TRUE(recover(store.disk, store.dirs, {}, sink));
  EXPECT_EQ(builder.calls, "reset session acl node loaded:0:0:2:42 txn:100000001 txn:100000002 ");
}

TEST(RecoverySinkAdapter, ReturnsTheBuildersRefusal) {
  FakeBuilder builder{.calls = "", .refuses = true};
  RecoverySinkAdapter sink(builder);
  EXPECT_FALSE(sink.session(SessionId{1}, 1));
  EXPECT_FALSE(sink.acl(1, ""));
  EXPECT_FALSE(sink.node("/a", {}, -1, {}));
  EXPECT_FALSE(sink.txn(Zxid{1}, ""));
  builder.calls.clear();
  sink.snapshot_loaded(Zxid{9}, std::nullopt);
  EXPECT_EQ(builder.calls, "loaded:9 ") << "no digest stays none";
}

}  // namespace
}  // namespace drover::storage::testing
