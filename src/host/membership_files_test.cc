// SPDX-License-Identifier: Apache-2.0
#include "host/membership_files.h"

#include <gtest/gtest.h>

#include "storage/memory_disk.h"
#include "zab/membership_text.h"

namespace drover::host {
namespace {

using storage::MemoryDisk;
using storage::Survival;

constexpr std::string_view kStatic =
    "# our ensemble\n"
    "tickTime=2000\n"
    "dataDir=/data\n"
    "clientPort=2181\n"
    "\n"
    "server.1=zk1:2888:3888\n"
    "server.2=zk2:2888\\\n"
    "   :3888\n"
    "server.3: zk3:2888:3888\n"
    "peerType=participant\n"
    "initLimit=10\r\n"
    "syncLimit=5";

zab::Membership members(std::int64_t version, const std::string& more = "", const std::string& client = "") {
  auto parsed = zab::parse_membership("server.1=zk1:2888:3888" + client +
                                      "\nserver.2=zk2:2888:3888\nserver.3=zk3:2888:3888\n" + more);
  EXPECT_TRUE(parsed) << parsed.error().sentence;
  parsed->set_version(version);
  return *parsed;
}

const std::string kFour = "server.4=zk4:2888:3888:observer;2181";
const std::string kPath = "/conf/zoo.cfg";

struct Folder {
  explicit Folder(std::uint64_t seed = 1) : disk(seed) {
    EXPECT_TRUE(disk.make_directories("/conf"));
    disk.set_contents(kPath, std::string(kStatic));
  }
  MembershipFiles files() { return MembershipFiles(disk, {.static_file = kPath, .me = ServerId{1}}); }
  StoredMembership load() {
    auto stored = files().load();
    EXPECT_TRUE(stored) << stored.error().what;
    return stored ? *std::move(stored) : StoredMembership{};
  }
  bool has(const std::string& suffix) { return *disk.exists(kPath + suffix); }
  std::string text(const std::string& suffix = "") { return disk.contents(kPath + suffix); }

  MemoryDisk disk;
};

TEST(MembershipFiles, TheStaticFileContainsTheFirstMembers) {
  Folder folder;
  EXPECT_EQ(folder.load().committed, members(0));
  EXPECT_FALSE(folder.load().proposed);
}

TEST(MembershipFiles, ACommitWritesADynamicFileAndNamesItInTheStaticOne) {
  Folder folder;
  ASSERT_TRUE(folder.files().commit(members(0x100000004, kFour)));
  EXPECT_EQ(folder.text(".dynamic.100000004"),
            "server.1=zk1:2888:3888:participant\nserver.2=zk2:2888:3888:participant\n"
            "server.3=zk3:2888:3888:participant\nserver.4=zk4:2888:3888:observer;0.0.0.0:2181");
  EXPECT_EQ(folder.text(),
            "# our ensemble\ntickTime=2000\ndataDir=/data\nclientPort=2181\n\ninitLimit=10\r\nsyncLimit=5\n"
            "dynamicConfigFile=/conf/zoo.cfg.dynamic.100000004\n");
  EXPECT_EQ(folder.text(".bak"), kStatic);
  EXPECT_EQ(folder.load().committed, members(0x100000004, kFour));
}

TEST(MembershipFiles, TheClientPortMovesIfTheServersLineContainsIt) {
  Folder folder;
  ASSERT_TRUE(folder.files().commit(members(5, "", ";2181")));
  EXPECT_EQ(folder.text(),
            "# our ensemble\ntickTime=2000\ndataDir=/data\n\ninitLimit=10\r\nsyncLimit=5\n"
            "dynamicConfigFile=/conf/zoo.cfg.dynamic.5\n");
}

TEST(MembershipFiles, ALaterCommitKeepsTheFirstCopyAndTheOldDynamicFile) {
  Folder folder;
  ASSERT_TRUE(folder.files().commit(members(5)));
  ASSERT_TRUE(folder.files().commit(members(6, kFour)));
  EXPECT_EQ(folder.text(".bak"), kStatic);
  EXPECT_TRUE(folder.has(".dynamic.5"));
  EXPECT_TRUE(folder.text().ends_with("\ndynamicConfigFile=/conf/zoo.cfg.dynamic.6\n"));
  EXPECT_EQ(folder.load().committed, members(6, kFour));
}

TEST(MembershipFiles, AnOlderMembershipChangesNothing) {
  Folder folder;
  ASSERT_TRUE(folder.files().commit(members(6, kFour)));
  const std::uint64_t before = folder.disk.operations();
  ASSERT_TRUE(folder.files().commit(members(5)));
  ASSERT_TRUE(folder.files().commit(members(6, kFour)));
  EXPECT_EQ(folder.disk.operations(), before);
  EXPECT_EQ(folder.load().committed, members(6, kFour));
}

TEST(MembershipFiles, AProposedMembershipHasItsVersionInside) {
  Folder folder;
  ASSERT_TRUE(folder.files().propose(members(0x100000004)));
  EXPECT_EQ(folder.text(".dynamic.next"),
            "server.1=zk1:2888:3888:participant\nserver.2=zk2:2888:3888:participant\n"
            "server.3=zk3:2888:3888:participant\nversion=100000004");
  EXPECT_EQ(folder.load().proposed, members(0x100000004));
  EXPECT_EQ(folder.load().committed, members(0));
}

TEST(MembershipFiles, ACommitRemovesTheProposedMembershipUnlessThatIsNewer) {
  Folder folder;
  ASSERT_TRUE(folder.files().propose(members(5)));
  ASSERT_TRUE(folder.files().commit(members(5)));
  EXPECT_FALSE(folder.has(".dynamic.next"));
  ASSERT_TRUE(folder.files().propose(members(9, kFour)));
  ASSERT_TRUE(folder.files().commit(members(7)));
  EXPECT_EQ(folder.load().proposed, members(9, kFour));
  ASSERT_TRUE(folder.files().commit(members(10)));
  EXPECT_FALSE(folder.has(".dynamic.next")) << "superseded";
}

TEST(MembershipFiles, AProposedMembershipCanBeWithdrawn) {
  Folder folder;
  ASSERT_TRUE(folder.files().propose(members(5)));
  ASSERT_TRUE(folder.files().withdraw());
  ASSERT_TRUE(folder.files().withdraw());
  EXPECT_FALSE(folder.has(".dynamic.next"));
}

TEST(MembershipFiles, AStaticFileThatEndsWithABackslashStaysReadable) {
  Folder folder;
  folder.disk.set_contents(kPath,
                           "server.1=zk1:2888:3888\nserver.2=zk2:2888:3888\nserver.3=zk3:2888:3888\na=b\\");
  ASSERT_TRUE(folder.files().commit(members(5)));
  EXPECT_EQ(folder.text(), "a=b\\\n\ndynamicConfigFile=/conf/zoo.cfg.dynamic.5\n");
  EXPECT_EQ(folder.load().committed, members(5));
}

TEST(MembershipFiles, DamagedFilesAreErrors) {
  Folder folder;
  ASSERT_TRUE(folder.files().commit(members(5)));
  folder.disk.set_contents(kPath + ".dynamic.next", "server.1=zk1");
  EXPECT_FALSE(folder.files().load());
  folder.disk.set_contents(kPath + ".dynamic.next", "version=1");
  EXPECT_TRUE(folder.files().load());
  folder.disk.set_contents(kPath + ".dynamic.5", "tickTime=2000");
  EXPECT_FALSE(folder.files().load());
  ASSERT_TRUE(folder.disk.unlink(kPath + ".dynamic.5"));
  EXPECT_FALSE(folder.files().load());
}

// --- a crash after every disk operation ---

// Two changes, as a member makes them: each is proposed, then committed. Returns how far it came: the number
// of calls that returned.
int change_twice(MembershipFiles files) {
  if (!files.propose(members(5, kFour))) return 0;
  if (!files.commit(members(5, kFour))) return 1;
  if (!files.propose(members(7, "", ";2181"))) return 2;
  return files.commit(members(7, "", ";2181")) ? 4 : 3;
}

struct Versions {
  std::int64_t committed = 0;
  std::int64_t proposed = 0;  // 0: none
};

Versions versions(const StoredMembership& stored) {
  return {stored.committed.version(), stored.proposed ? stored.proposed->version() : 0};
}

// The memberships that may be on disk after a crash: those of the calls that returned, and of the next one.
void expect_old_or_new(const Versions& found, int calls) {
  const std::int64_t committed = calls < 2 ? 0 : calls < 4 ? 5 : 7;
  const std::int64_t next_committed = calls == 1 ? 5 : calls == 3 ? 7 : committed;
  EXPECT_TRUE(found.committed == committed || found.committed == next_committed) << found.committed;
  const std::int64_t proposed = calls == 1 ? 5 : calls == 3 ? 7 : 0;
  const std::int64_t next_proposed = calls == 0 ? 5 : calls == 2 ? 7 : 0;
  EXPECT_TRUE(found.proposed == proposed || found.proposed == next_proposed) << found.proposed;
  // A durable proposal is still known, as proposed or as committed.
  EXPECT_TRUE(proposed == 0 || found.committed == proposed || found.proposed == proposed);
}

void expect_right_members(const StoredMembership& stored) {
  const std::int64_t version = stored.committed.version();
  EXPECT_EQ(stored.committed, version == 0   ? members(0)
                              : version == 5 ? members(5, kFour)
                                             : members(7, "", ";2181"));
}

TEST(MembershipFilesCrash, LeavesTheOldMembershipOrTheNewOneAtEveryStep) {
  constexpr int kTears = 20;
  bool through = false;
  for (std::uint64_t operations = 0; !through; ++operations) {
    for (const Survival survival : {Survival::kLose, Survival::kKeep, Survival::kTear}) {
      for (int seed = 0; seed < (survival == Survival::kTear ? kTears : 1); ++seed) {
        SCOPED_TRACE(std::to_string(operations) + " operations, survival " +
                     std::to_string(static_cast<int>(survival)) + ", seed " + std::to_string(seed));
        Folder folder(static_cast<std::uint64_t>(seed) + 1);
        folder.disk.power_off_after(operations);
        const int calls = change_twice(folder.files());
        through = calls == 4;
        folder.disk.crash(survival);
        folder.disk.clear_faults();
        const StoredMembership stored = folder.load();
        expect_old_or_new(versions(stored), calls);
        expect_right_members(stored);
        EXPECT_EQ(change_twice(folder.files()), 4) << "it can be done again";
        EXPECT_EQ(versions(folder.load()).committed, 7);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace drover::host
