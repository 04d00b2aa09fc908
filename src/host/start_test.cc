// SPDX-License-Identifier: Apache-2.0
#include "host/start.h"

#include <gtest/gtest.h>

#include <string>

#include "storage/memory_disk.h"
#include "zab/membership_text.h"

namespace drover::host {
namespace {

const std::string kPath = "/conf/zoo.cfg";

zab::Membership members(std::int64_t version) {
  auto parsed = zab::parse_membership("server.1=zk1:2888:3888\nserver.2=zk2:2888:3888");
  EXPECT_TRUE(parsed) << parsed.error().sentence;
  parsed->set_version(version);
  return *parsed;
}

// A server that was stopped, with members from zoo.cfg and perhaps a proposed membership.
struct Stopped {
  Stopped() {
    EXPECT_TRUE(disk.make_directories("/conf"));
    disk.set_contents(kPath, "server.1=zk1:2888:3888\nserver.2=zk2:2888:3888\n");
    machine.tree.ensure_special_nodes();
  }
  MembershipFiles files() { return MembershipFiles(disk, {.static_file = kPath, .me = ServerId{1}}); }
  void log_ends_at(std::int64_t zxid) { machine.last_zxid = Zxid{zxid}; }
  void log_contains(const zab::Membership& reconfiguration) {
    const auto node = machine.tree.find("/zookeeper/config");
    machine.tree.set_data(node, "/zookeeper/config", zab::to_text(reconfiguration),
                          state::persisted_stat(machine.tree.at(node)));
  }
  zab::Memberships start(std::uint32_t current_epoch) {
    MembershipFiles found = files();
    auto memberships = recover_memberships(found, machine, {.current_epoch = current_epoch});
    EXPECT_TRUE(memberships) << memberships.error().what;
    return memberships ? *std::move(memberships) : zab::Memberships(members(0));
  }
  std::int64_t proposed(std::uint32_t current_epoch) {
    const zab::Memberships memberships = start(current_epoch);
    return memberships.proposed() ? memberships.proposed()->version() : 0;
  }

  storage::MemoryDisk disk{1};
  state::Machine machine{state::Options{}};
};

TEST(RecoverMemberships, ReconfigurationInTheLogIsProposed) {
  Stopped server;
  ASSERT_TRUE(server.files().propose(members(0x100000004)));
  server.log_contains(members(0x100000004));
  server.log_ends_at(0x100000004);
  EXPECT_EQ(server.proposed(1), 0x100000004);
}

TEST(RecoverMemberships, ReconfigurationInTheLogCountsIfItsFileWasLost) {
  Stopped server;
  server.log_contains(members(0x100000004));
  server.log_ends_at(0x100000005);
  EXPECT_EQ(server.proposed(1), 0x100000004);
}

TEST(RecoverMemberships, MembersThatTheLeaderHasNumberedAreProposedWithoutATransaction) {
  Stopped server;
  ASSERT_TRUE(server.files().propose(members(0x100000000)));
  EXPECT_EQ(server.proposed(1), 0x100000000);
  EXPECT_EQ(server.proposed(0), 0) << "that epoch was not reached";
}

// A crash came between the file and the log. Later the log passes the zxid, with other transactions.
TEST(RecoverMemberships, FileWithoutItsTransactionGoesForGood) {
  Stopped server;
  ASSERT_TRUE(server.files().propose(members(0x100000004)));
  server.log_ends_at(0x100000003);
  EXPECT_EQ(server.proposed(1), 0);
  server.log_ends_at(0x200000009);
  EXPECT_EQ(server.proposed(2), 0);
}

// A leader's state came instead of the log, and the process ended before it heard of the leader's members.
TEST(RecoverMemberships, FileThatTheLogContradictsDoesNotCount) {
  Stopped server;
  ASSERT_TRUE(server.files().propose(members(0x100000004)));
  server.log_contains(members(0x100000002));
  server.log_ends_at(0x200000009);
  EXPECT_EQ(server.proposed(2), 0x100000002);
}

}  // namespace
}  // namespace drover::host
