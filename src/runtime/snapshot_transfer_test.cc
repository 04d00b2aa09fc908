// SPDX-License-Identifier: Apache-2.0
//
// Copies the state of one server to another through the real parts, on real threads: cursor, stream, file,
// adapter, builder, and the lock between them and the writer.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "replica/snapshot_cursor.h"
#include "replica/state_builder.h"
#include "runtime/snapshot_thread.h"
#include "runtime/tree_lock.h"
#include "state/testing.h"
#include "storage/forwarding_disk.h"
#include "storage/memory_disk.h"
#include "storage/recovery_sink_adapter.h"
#include "storage/snapshot_reader.h"
#include "storage/snapshot_stream.h"

namespace drover::server {
namespace {

using namespace state::testing;
using Progress = replica::SnapshotCursor::Progress;

// The state as a leader sends it; `zxid` is that of the SNAP packet.
struct Sent {
  Zxid zxid{};
  std::string bytes;
};

Sent send_snapshot(state::Machine& machine, TreeLock& lock, TreeSlot slot) {
  Sent sent;
  replica::SnapshotCursor cursor(machine);
  {
    TreeLock::Reading reading(lock, slot);
    const replica::SnapshotBeginning beginning = cursor.begin();
    sent.zxid = beginning.zxid;
    storage::append_snapshot_sessions(sent.bytes, beginning.sessions);
    storage::append_snapshot_acls(sent.bytes, beginning.acls);
  }
  replica::SnapshotNodes nodes;
  for (auto progress = Progress::kMore; progress == Progress::kMore;) {
    {
      TreeLock::Reading reading(lock, slot);
      progress = cursor.step(nodes, {.nodes = 3});
    }
    EXPECT_NE(progress, Progress::kCutOff);
    nodes.for_each([&](const auto&... node) { storage::append_snapshot_node(sent.bytes, node...); });
  }
  storage::append_snapshot_stream_end(sent.bytes);
  return sent;
}

// Receives the state as a learner does, in pieces.
void receive(replica::StateBuilder& builder, const Sent& sent) {
  storage::RecoverySinkAdapter sink(builder);
  storage::SnapshotStreamReader reader(sink);
  builder.reset();
  std::string buffer;
  for (std::size_t at = 0; at < sent.bytes.size(); at += 777) {
    buffer.append(sent.bytes, at, 777);
    const auto taken = reader.feed(buffer);
    ASSERT_TRUE(taken) << taken.error().what;
    buffer.erase(0, *taken);
  }
  ASSERT_TRUE(reader.done());
  EXPECT_TRUE(buffer.empty());
  builder.loaded(sent.zxid);
}

void replay(replica::StateBuilder& builder, const std::vector<std::string>& log, Zxid after) {
  for (const std::string& entry : log) {
    const Zxid zxid = wire::zxid_of_entry(entry);
    if (zxid > after) {
      EXPECT_TRUE(builder.txn(zxid, entry));
    }
  }
  builder.finish();
  EXPECT_TRUE(builder.findings().empty());
}

void expect_equal(const state::Machine& left, const state::Machine& right) {
  EXPECT_EQ(difference(picture_of(left.tree), picture_of(right.tree)), "");
  EXPECT_EQ(left.tree.digest(), right.tree.digest());
  EXPECT_EQ(left.sessions, right.sessions);
}

void write_some(Leader& leader, Random& random, int count) {
  for (int i = 0; i < count; ++i) {
    const RandomWrite write = random_write(random);
    leader.run(write.op, write.body, write.who);
  }
}

struct Transfer : ::testing::Test {
  Transfer() { EXPECT_TRUE(disk.make_directories("/data")); }

  IoResult<SnapshotResult> write_file() { return write_snapshot(disk, "/data", leader.machine, lock, {}); }
  void load(const storage::SnapshotFile& file) {
    storage::RecoverySinkAdapter sink(builder);
    sink.reset();
    const auto info = storage::read_snapshot(disk, "/data", file, sink);
    ASSERT_TRUE(info) << info.error().what;
    sink.snapshot_loaded(file.zxid, info->digest);
  }

  Leader leader{with_extended_types()};
  state::Machine machine{with_extended_types()};
  replica::StateBuilder builder{machine};
  TreeLock lock{2};
  storage::MemoryDisk disk{1};
  Random random{7};
};

TEST_F(Transfer, LearnersAndASnapshotAreServedConcurrentlyWithWrites) {
  write_some(leader, random, 300);
  constexpr int kBatches = 1000;
  constexpr std::size_t kKept = 50;
  std::atomic<bool> done{false};
  const auto send_until_done = [&](TreeSlot slot) {
    std::vector<Sent> sent;
    while (!done || sent.empty()) {
      Sent one = send_snapshot(leader.machine, lock, slot);
      if (sent.size() < kKept) sent.push_back(std::move(one));
    }
    return sent;
  };
  std::vector<Sent> sent;
  {
    std::jthread file([&] {
      do EXPECT_TRUE(write_file());
      while (!done);
    });
    std::jthread other([&] { send_until_done(io_slot(0)); });
    std::jthread writer([&] {
      for (int i = 0; i < kBatches; ++i) {
        TreeLock::Writing writing(lock);
        write_some(leader, random, 3);
      }
      done = true;
    });
    sent = send_until_done(io_slot(1));
  }
  for (const Sent& one : sent) {
    receive(builder, one);
    replay(builder, leader.applied, one.zxid);
    expect_equal(machine, leader.machine);
  }
  const auto files = storage::list_snapshots(disk, "/data");
  ASSERT_TRUE(files && !files->empty());
  for (std::size_t i = 0; i < std::min(kKept, files->size()); ++i) {
    load((*files)[i]);
    replay(builder, leader.applied, (*files)[i].zxid);
    expect_equal(machine, leader.machine);
  }
}

// Replaces the state after the beginning of a snapshot, which names the file, and before its first nodes.
class ReplacingDisk final : public storage::ForwardingDisk {
 public:
  ReplacingDisk(storage::Disk& disk, state::Machine& machine) : ForwardingDisk(disk), machine_(machine) {}

  IoResult<std::unique_ptr<storage::File>> open(const std::string& path, storage::OpenMode mode) override {
    replica::StateBuilder(machine_).reset();
    return ForwardingDisk::open(path, mode);
  }

 private:
  state::Machine& machine_;
};

TEST_F(Transfer, SnapshotOfAReplacedStateIsAbandoned) {
  write_some(leader, random, 100);
  ReplacingDisk replacing(disk, leader.machine);
  EXPECT_FALSE(write_snapshot(replacing, "/data", leader.machine, lock, {}));
  EXPECT_TRUE(disk.list("/data")->empty()) << "no file has a part of a state";
}

TEST_F(Transfer, FailedSnapshotLeavesNoWalkBehind) {
  disk.inject({.error = ENOSPC, .only = storage::DiskOperation::kCreate});
  EXPECT_FALSE(write_file());
  EXPECT_TRUE(write_file()) << "the tree would not outlive a walk that stayed";
}

}  // namespace
}  // namespace drover::server
