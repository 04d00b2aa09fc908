// SPDX-License-Identifier: Apache-2.0
#include "tools/survey.h"

#include <gtest/gtest.h>

#include "tools/dry_disk.h"
#include "tools/repair_command.h"
#include "tools/repair_plan.h"
#include "tools/testing.h"

namespace drover::tools {
namespace {

using storage::RecoveryOutcome;

Survey look(testing::Directory& d) {
  auto found = survey(d.context, d.dirs);
  EXPECT_TRUE(found.has_value()) << found.error().what;
  return found ? *std::move(found) : Survey{};
}

// Three files of two transactions each.
void fill(testing::Directory& d) {
  d.log({testing::create(1, "/a", "1"), testing::create(2, "/b", "2")});
  d.log({testing::create(3, "/c", "3"), testing::create(4, "/d", "4")});
  d.log({testing::create(5, "/e", "5"), testing::create(6, "/f", "6")});
}

Outcome repair(testing::Directory& d, const RepairCommand& command) {
  return run_repair(d.context, command, {.now_ms = 0, .confirm = [] { return false; }});
}

TEST(Survey, IntactDirectoryIsFineAndStarts) {
  testing::Directory d;
  fill(d);
  const Survey s = look(d);
  EXPECT_TRUE(s.is_fine());
  EXPECT_EQ(s.recovery.last, Zxid{6});
  EXPECT_EQ(s.logs.size(), 3u);
  EXPECT_TRUE(plan_repair(s).is_empty());
}

TEST(Survey, ItChangesNothing) {
  testing::Directory d;
  fill(d);
  d.zero("log.5", 100, 30);
  const std::uint64_t before = d.disk.operations();
  look(d);
  EXPECT_EQ(d.disk.operations(), before);
}

TEST(Survey, GapInTheMiddleIsDamageAndNamesTheLoss) {
  testing::Directory d;
  fill(d);
  ASSERT_TRUE(d.disk.unlink(d.path_of("log.3")));
  const Survey s = look(d);
  EXPECT_FALSE(s.is_fine());
  EXPECT_EQ(s.recovery.outcome, RecoveryOutcome::kDamaged);
  const RepairPlan plan = plan_repair(s);
  EXPECT_EQ(plan.truncate_to, Zxid{2});
  ASSERT_TRUE(plan.loss.has_value());
  EXPECT_EQ(plan.loss->after, Zxid{2});
  EXPECT_EQ(plan.loss->up_to, Zxid{6});
}

TEST(Survey, GapBeforeASnapshotIsHarmless) {
  testing::Directory d;
  fill(d);
  d.snapshot(Zxid{4});
  ASSERT_TRUE(d.disk.unlink(d.path_of("log.3")));
  const Survey s = look(d);
  EXPECT_TRUE(s.is_fine());
  EXPECT_EQ(s.logs.back().verdict, Verdict::kNote);
}

TEST(Survey, WithoutIntactSnapshotNothingCanBeRepaired) {
  testing::Directory d;
  fill(d);
  d.zero("snapshot.0", 0, 8);
  const RepairPlan plan = plan_repair(look(d));
  EXPECT_FALSE(plan.impossible.empty());
  EXPECT_TRUE(plan.is_empty());
}

TEST(Survey, ContradictingEpochFilesAreBad) {
  testing::Directory d;
  fill(d);
  d.disk.set_contents(d.path_of("currentEpoch"), "5");
  d.disk.set_contents(d.path_of("acceptedEpoch"), "3");
  EXPECT_FALSE(look(d).is_fine());
  d.disk.set_contents(d.path_of("acceptedEpoch"), "5");
  EXPECT_TRUE(look(d).is_fine());
  d.disk.set_contents(d.path_of("acceptedEpoch"), "nonsense");
  const Survey s = look(d);
  EXPECT_FALSE(s.is_fine());
  EXPECT_TRUE(plan_repair(s).is_empty());
  EXPECT_FALSE(plan_repair(s).advice.empty());
}

TEST(Survey, EphemeralsWithoutASessionAreNoted) {
  testing::Directory d;
  d.log({testing::create(1, "/e", "", /*ephemeral=*/true)});
  const Survey s = look(d);
  EXPECT_TRUE(s.is_fine());
  ASSERT_EQ(s.findings.size(), 1u);
  EXPECT_NE(s.findings[0].text.find("1 ephemeral nodes belong to 1 sessions"), std::string::npos);
}

TEST(Survey, WrongDigestIsFoundEvenBeforeTheNewestSnapshot) {
  testing::Directory d;
  std::string wrong = testing::create(2, "/b", "2");
  wire::Writer w(wrong);
  encode(w, wire::TxnDigest{.tree_digest = 42});
  d.log({testing::create(1, "/a", "1"), wrong, testing::create(3, "/c", "3")});
  EXPECT_FALSE(look(d).is_fine());
  d.snapshot(Zxid{3});
  EXPECT_EQ(look(d).recovery.snapshot, Zxid{3});
  EXPECT_FALSE(look(d).is_fine());
}

TEST(Repair, RefusesToLoseDataWithoutAcceptLoss) {
  testing::Directory d;
  fill(d);
  ASSERT_TRUE(d.disk.unlink(d.path_of("log.3")));
  const std::string untouched = d.disk.contents(d.path_of("log.5"));
  EXPECT_EQ(repair(d, {.directories = {"/data", ""}, .yes = true}), kWrong);
  EXPECT_EQ(d.disk.contents(d.path_of("log.5")), untouched);

  EXPECT_EQ(repair(d, {.directories = {"/data", ""}, .backup = "/copy", .yes = true, .accept_loss = true}),
            kFine);
  EXPECT_EQ(d.disk.contents("/copy/version-2/log.5"), untouched);
  const Survey after = look(d);
  EXPECT_TRUE(after.is_fine());
  EXPECT_EQ(after.recovery.last, Zxid{2});
}

TEST(Repair, DoesNothingWithoutConfirmation) {
  testing::Directory d;
  fill(d);
  d.snapshot(Zxid{6});
  d.zero("snapshot.6", 0, 8);
  EXPECT_EQ(repair(d, {.directories = {"/data", ""}}), kWrong);
  EXPECT_TRUE(*d.disk.exists(d.path_of("snapshot.6")));
  EXPECT_EQ(repair(d, {.directories = {"/data", ""}, .yes = true}), kFine);
  EXPECT_FALSE(*d.disk.exists(d.path_of("snapshot.6")));
  EXPECT_TRUE(look(d).is_fine());
}

TEST(Repair, RefusesADirectoryInUse) {
  testing::Directory d;
  fill(d);
  const auto server = storage::lock_data_dirs(d.disk, d.dirs);
  ASSERT_TRUE(server.has_value());
  EXPECT_FALSE(repair(d, {.directories = {"/data", ""}, .yes = true}).has_value());
}

TEST(Repair, RefusesWithoutSpaceForTheCopy) {
  testing::Directory d;
  fill(d);
  d.snapshot(Zxid{6});
  d.zero("snapshot.6", 0, 8);
  d.disk.set_capacity(d.disk.used_bytes() + 100);
  EXPECT_FALSE(repair(d, {.directories = {"/data", ""}, .yes = true}).has_value());
  EXPECT_TRUE(*d.disk.exists(d.path_of("snapshot.6")));
}

TEST(DryDisk, RecordsWritesWithoutExecutingThem) {
  testing::Directory d;
  fill(d);
  DryDisk dry(d.disk);
  ASSERT_TRUE(dry.unlink("/data/version-2/log.1"));
  const auto file = dry.open("/data/version-2/log.3", storage::OpenMode::kWrite);
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE((*file)->truncate(16));
  EXPECT_EQ(dry.actions(), (std::vector<std::string>{"delete log.1", "cut log.3 at byte 16"}));
  EXPECT_TRUE(*d.disk.exists("/data/version-2/log.1"));
  EXPECT_GT(d.disk.contents("/data/version-2/log.3").size(), 16u);
}

}  // namespace
}  // namespace drover::tools
