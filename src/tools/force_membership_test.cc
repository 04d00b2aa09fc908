// SPDX-License-Identifier: Apache-2.0
#include "tools/force_membership.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "tools/members_command.h"
#include "tools/testing.h"
#include "zab/membership_text.h"

namespace drover::tools {
namespace {

using storage::Survival;
using Place = FoundMembership::Place;

constexpr std::string_view kThree =
    "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
    "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
    "server.3=zk3:2888:3888:participant;0.0.0.0:2181\n";
constexpr std::string_view kFour = "server.4=zk4:2888:3888:participant;0.0.0.0:2181\n";
constexpr std::string_view kSelf = "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n";
constexpr std::string_view kSettings =
    "tickTime=2000\ninitLimit=10\nsyncLimit=5\ndataDir=/data\n"
    "reconfigEnabled=true\nstandaloneEnabled=false\n";
constexpr std::uint64_t kNewHistory = 0x222;
constexpr std::int64_t kFirstTxn = 0x100000001;

const std::string kConfig = "/conf/zoo.cfg";

zab::Membership members_of(std::string_view text) {
  auto members = zab::parse_membership(text);
  ENSURE(members.has_value(), "the text of a test is valid");
  return *members;
}

std::string reconfig(std::int64_t zxid, const std::string& servers) {
  const std::string text = servers + "version=" + hex_text(static_cast<std::uint64_t>(zxid)).substr(2);
  return testing::entry(zxid, wire::OpCode::kReconfig,
                        [&](wire::Writer& w) { encode(w, wire::SetDataTxn{kConfigPath, text, -1}); });
}

// Server 1 of three, whose members have version 0x100000000.
struct Survivor : testing::Directory {
  Survivor() {
    ENSURE(disk.make_directories("/conf").has_value(), "an empty disk has room");
    disk.set_contents("/data/myid", "1\n");
    disk.set_contents("/data/version-2/currentEpoch", "1\n111\n");
    disk.set_contents("/data/version-2/acceptedEpoch", "1");
    write_config(std::string(kSettings) + "dynamicConfigFile=/conf/zoo.cfg.dynamic.100000000\n");
    disk.set_contents("/conf/zoo.cfg.dynamic.100000000", std::string(kThree));
    log({testing::create(kFirstTxn, "/a", "1"), testing::create(kFirstTxn + 1, "/b", "2")});
  }
  void write_config(std::string text) { disk.set_contents(kConfig, std::move(text)); }

  MembershipSurvey look(const std::string& path = kConfig) {
    auto found = survey_memberships(context, {path, ""});
    EXPECT_TRUE(found.has_value()) << found.error().what;
    return found ? *std::move(found) : MembershipSurvey{};
  }
  ForceWorld world(bool yes = true) const {
    return {.now_ms = 0, .new_history_id = kNewHistory, .confirm = [yes] { return yes; }};
  }
  Outcome force(std::string_view lines = kSelf) {
    return force_membership(context, {kConfig, ""}, members_of(lines), {}, world());
  }
  // Nothing but the lock file may change.
  std::string refusal(std::string_view lines = kSelf) {
    const Outcome outcome = force(lines);
    EXPECT_FALSE(outcome.has_value());
    EXPECT_EQ(disk.contents("/data/version-2/acceptedEpoch"), "1");
    return outcome ? "" : outcome.error().what;
  }
  bool has_finding(const MembershipSurvey& survey, Verdict verdict, const std::string& part) {
    return std::ranges::any_of(survey.findings, [&](const Finding& each) {
      return each.verdict == verdict && each.text.find(part) != std::string::npos;
    });
  }
};

TEST(MembershipSurvey, ItShowsTheCommittedMembersAndTheirFile) {
  Survivor s;
  const MembershipSurvey survey = s.look();
  EXPECT_TRUE(survey.is_fine());
  EXPECT_EQ(survey.me, ServerId{1});
  ASSERT_EQ(survey.found.size(), 1u);
  EXPECT_EQ(survey.found[0].place, Place::kDynamicFile);
  EXPECT_EQ(survey.found[0].where, "/conf/zoo.cfg.dynamic.100000000");
  EXPECT_EQ(survey.found[0].members.version(), 0x100000000);
  EXPECT_EQ(survey.start, "needs a quorum of the voters 1, 2, 3 of version 0x100000000");
}

TEST(MembershipSurvey, ItChangesNothing) {
  Survivor s;
  const std::uint64_t before = s.disk.operations();
  s.look();
  EXPECT_EQ(s.disk.operations(), before);
}

TEST(MembershipSurvey, AReconfigurationThatOnlyTheDataHoldsIsReportedAndCounts) {
  Survivor s;
  s.log({reconfig(kFirstTxn + 2, std::string(kThree) + std::string(kFour))});
  const MembershipSurvey survey = s.look();
  EXPECT_TRUE(s.has_finding(survey, Verdict::kBad, "zoo.cfg is older than the data"));
  ASSERT_TRUE(survey.find(Place::kTree));
  EXPECT_EQ(survey.find(Place::kTree)->where, "/zookeeper/config in the log");
  ASSERT_TRUE(survey.at_start && survey.at_start->proposed());
  EXPECT_EQ(survey.at_start->proposed()->version(), kFirstTxn + 2);
}

TEST(MembershipSurvey, AProposedMembershipIsANote) {
  Survivor s;
  s.log({reconfig(kFirstTxn + 2, std::string(kThree) + std::string(kFour))});
  s.disk.set_contents("/conf/zoo.cfg.dynamic.next",
                      std::string(kThree) + std::string(kFour) + "version=100000003");
  const MembershipSurvey survey = s.look();
  EXPECT_TRUE(survey.is_fine());
  EXPECT_TRUE(s.has_finding(survey, Verdict::kNote, "was proposed"));
  EXPECT_EQ(
      survey.start,
      "needs a quorum of the voters 1, 2, 3 of version 0x100000000, and a quorum of the voters 1, 2, 3, 4 "
      "of version 0x100000003");
}

TEST(MembershipSurvey, ADynamicFileLaterThanTheOneInUseIsReported) {
  Survivor s;
  s.disk.set_contents("/conf/zoo.cfg.dynamic.500000000", std::string(kThree));
  const MembershipSurvey survey = s.look();
  EXPECT_TRUE(s.has_finding(survey, Verdict::kBad, "zoo.cfg.dynamic.500000000 is later"));
  EXPECT_EQ(survey.latest_version, 0x500000000);
  EXPECT_EQ(survey.latest_epoch, 5u);
}

TEST(MembershipSurvey, AnEditedDynamicFileIsReported) {
  Survivor s;
  s.log({reconfig(kFirstTxn + 2, std::string(kThree) + std::string(kFour))});
  s.write_config(std::string(kSettings) + "dynamicConfigFile=/conf/zoo.cfg.dynamic.100000003\n");
  s.disk.set_contents("/conf/zoo.cfg.dynamic.100000003", std::string(kThree));
  EXPECT_TRUE(s.has_finding(s.look(), Verdict::kBad, "somebody has edited the dynamic file"));
}

TEST(MembershipSurvey, WithoutReconfigEnabledTheDataDoNotCount) {
  Survivor s;
  s.log({reconfig(kFirstTxn + 2, std::string(kThree) + std::string(kFour))});
  s.write_config("initLimit=10\nsyncLimit=5\ndataDir=/data\n" + std::string(kThree));
  const MembershipSurvey survey = s.look();
  EXPECT_TRUE(s.has_finding(survey, Verdict::kBad, "reconfigEnabled is not true"));
  EXPECT_EQ(survey.start, "needs a quorum of the voters 1, 2, 3 of version 0x0");
}

TEST(MembershipSurvey, AServerThatWasRemovedDoesNotStart) {
  Survivor s;
  s.disk.set_contents("/data/myid", "7\n");
  const MembershipSurvey survey = s.look();
  EXPECT_EQ(survey.start, "does not start");
  EXPECT_TRUE(s.has_finding(survey, Verdict::kBad, "there is no server.7"));
}

TEST(MembershipSurvey, ADataDirectoryShowsWhatTheTreeNames) {
  Survivor s;
  s.log({reconfig(kFirstTxn + 2, std::string(kThree))});
  const MembershipSurvey survey = s.look("/data");
  EXPECT_TRUE(survey.is_fine());
  ASSERT_EQ(survey.found.size(), 1u);
  EXPECT_EQ(survey.found[0].place, Place::kTree);
}

TEST(MembershipSurvey, DamagedDataAreReported) {
  Survivor s;
  s.log({testing::create(kFirstTxn + 2, "/c", "3")});
  ASSERT_TRUE(s.disk.unlink(s.path_of("log.100000001")));
  const MembershipSurvey survey = s.look();
  EXPECT_TRUE(s.has_finding(survey, Verdict::kBad, "the data cannot be read"));
  EXPECT_EQ(survey.start, "asks the leader for its state, and does not vote until it has it");
}

TEST(ForceMembership, TheSurvivorStartsAsAQuorumOfItsOwn) {
  Survivor s;
  const Outcome outcome = s.force();
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_EQ(*outcome, kFine);
  const MembershipSurvey survey = s.look();
  EXPECT_TRUE(survey.is_fine());
  ASSERT_TRUE(survey.at_start);
  EXPECT_FALSE(survey.at_start->proposed());
  EXPECT_TRUE(survey.at_start->is_quorum({ServerId{1}}));
  EXPECT_EQ(survey.at_start->voters(), zab::ServerSet{ServerId{1}});
}

TEST(ForceMembership, VersionEpochAndHistoryKeepTheLostServersApart) {
  Survivor s;
  ASSERT_TRUE(s.force());
  const MembershipSurvey survey = s.look();
  EXPECT_EQ(survey.at_start->version(), raw(epoch_start(1 + kForcedEpochsSkipped)));
  EXPECT_EQ(survey.epochs->accepted, 1 + kForcedEpochsSkipped);  // the next leader's epoch is later
  EXPECT_EQ(survey.epochs->current, 1u);
  EXPECT_EQ(survey.epochs->history_id, kNewHistory);
}

TEST(ForceMembership, ItOutranksWhatTheLogAndEveryFileName) {
  Survivor s;
  s.log({reconfig(0x300000001, std::string(kThree) + std::string(kFour))});
  s.disk.set_contents("/data/version-2/currentEpoch", "3\n111\n");
  s.disk.set_contents("/data/version-2/acceptedEpoch", "7");
  s.disk.set_contents("/conf/zoo.cfg.dynamic.next",
                      std::string(kThree) + std::string(kFour) + "version=300000001");
  s.disk.set_contents("/conf/zoo.cfg.dynamic.900000000", std::string(kThree));
  ASSERT_TRUE(s.force());
  const MembershipSurvey survey = s.look();
  EXPECT_EQ(survey.at_start->version(), raw(epoch_start(9 + kForcedEpochsSkipped)));
  EXPECT_FALSE(survey.at_start->proposed());
  EXPECT_FALSE(*s.disk.exists("/conf/zoo.cfg.dynamic.next"));
}

TEST(ForceMembership, MembersInZooCfgAreReplaced) {
  Survivor s;
  s.write_config(std::string(kSettings) + std::string(kThree));
  ASSERT_TRUE(s.force());
  EXPECT_EQ(s.look().at_start->voters(), zab::ServerSet{ServerId{1}});
  EXPECT_EQ(s.disk.contents(kConfig).find("server."), std::string::npos);
}

TEST(ForceMembership, ObserversMayBeMembers) {
  Survivor s;
  ASSERT_TRUE(s.force(std::string(kSelf) + "server.9=zk9:2888:3888:observer;2181\n"));
  EXPECT_EQ(s.look().at_start->committed().observers(), zab::ServerSet{ServerId{9}});
}

TEST(ForceMembership, TheFilesAreCopiedFirst) {
  Survivor s;
  const std::string config = s.disk.contents(kConfig);
  ASSERT_TRUE(s.force());
  const std::string copy = kConfig + ".before-force-19700101T000000/";
  EXPECT_EQ(s.disk.contents(copy + "zoo.cfg"), config);
  EXPECT_EQ(s.disk.contents(copy + "zoo.cfg.dynamic.100000000"), kThree);
  EXPECT_EQ(s.disk.contents(copy + "currentEpoch"), "1\n111\n");
  EXPECT_EQ(s.disk.contents(copy + "acceptedEpoch"), "1");
}

TEST(ForceMembership, ItNamesTheServersThatMustNotComeBack) {
  Survivor s;
  ASSERT_TRUE(s.force());
  EXPECT_NE(s.out.text().find("LOST: what only servers 2, 3 have"), std::string::npos);
  EXPECT_NE(s.out.text().find("NEVER start servers 2, 3"), std::string::npos);
}

// The protections are in force before the members.
TEST(ForceMembership, ACrashAtAnyStepLeavesTheOldMembersOrTheNewOnesProtected) {
  bool done = false;
  for (std::uint64_t step = 0; !done; ++step) {
    for (const Survival survival : {Survival::kLose, Survival::kKeep, Survival::kTear}) {
      Survivor s;
      s.disk.power_off_after(step);
      done = s.force().has_value();
      s.disk.crash(survival);
      s.disk.clear_faults();
      const MembershipSurvey survey = s.look();
      ASSERT_TRUE(survey.at_start && survey.epochs) << "step " << step;
      EXPECT_EQ(survey.state->last, Zxid{kFirstTxn + 1});
      const bool forced = survey.at_start->version() != 0x100000000;
      if (forced) {
        EXPECT_EQ(survey.at_start->voters(), zab::ServerSet{ServerId{1}}) << "step " << step;
        EXPECT_EQ(survey.epochs->history_id, kNewHistory) << "step " << step;
        EXPECT_GT(survey.epochs->accepted, kForcedEpochsSkipped) << "step " << step;
      }
      EXPECT_TRUE(forced || !done) << "step " << step;
      // It can be repeated.
      const Outcome again =
          force_membership(s.context, {kConfig, ""}, members_of(kSelf), {.backup = "/again"}, s.world());
      ASSERT_TRUE(again) << "step " << step << ": " << again.error().what;
      EXPECT_EQ(s.look().at_start->voters(), zab::ServerSet{ServerId{1}});
    }
  }
}

TEST(ForceMembership, WithoutConfirmationNothingChanges) {
  Survivor s;
  const std::string config = s.disk.contents(kConfig);
  EXPECT_EQ(force_membership(s.context, {kConfig, ""}, members_of(kSelf), {}, s.world(/*yes=*/false)),
            kWrong);
  EXPECT_EQ(s.disk.contents(kConfig), config);
  EXPECT_EQ(s.disk.contents("/data/version-2/acceptedEpoch"), "1");
}

TEST(ForceMembership, ARunningServerIsRefused) {
  Survivor s;
  const auto locks = storage::lock_data_dirs(s.disk, s.dirs);
  EXPECT_NE(s.refusal().find("in use"), std::string::npos);
}

TEST(ForceMembership, AProcessWithoutALockIsRefused) {
  Survivor s;
  ForceWorld world = s.world();
  world.user_of = [](const std::string&) { return "process 4711 has log.1 open"; };
  const Outcome outcome = force_membership(s.context, {kConfig, ""}, members_of(kSelf), {}, world);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().what.find("process 4711"), std::string::npos);
}

TEST(ForceMembership, AnotherUserIsRefused) {
  Survivor s;
  ForceWorld world = s.world();
  world.other_owner_of = [](const std::string&) { return "drover"; };
  const Outcome outcome = force_membership(s.context, {kConfig, ""}, members_of(kSelf), {}, world);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().what.find("belongs to user drover"), std::string::npos);
}

TEST(ForceMembership, UnsuitableMembersAreRefused) {
  Survivor s;
  EXPECT_NE(s.refusal("server.2=zk2:2888:3888;2181").find("is not a voter"), std::string::npos);
  EXPECT_NE(
      s.refusal("server.1=zk1:2888:3888:observer;2181\nserver.2=zk2:2888:3888;2181").find("not a voter"),
      std::string::npos);
  EXPECT_NE(s.refusal(std::string(kSelf) + "server.2=zk2:2888:3888;2181").find("only voter"),
            std::string::npos);
  EXPECT_NE(s.refusal("server.1=zk1:2888:3888").find("neither clientPort nor secureClientPort"),
            std::string::npos);
}

TEST(ForceMembership, UnsuitableSettingsAreRefused) {
  Survivor s;
  s.write_config("initLimit=10\nsyncLimit=5\ndataDir=/data\nstandaloneEnabled=false\n" + std::string(kThree));
  EXPECT_NE(s.refusal().find("reconfigEnabled=true"), std::string::npos);
  s.write_config("initLimit=10\nsyncLimit=5\ndataDir=/data\nreconfigEnabled=true\n" + std::string(kThree));
  EXPECT_NE(s.refusal().find("standaloneEnabled=false"), std::string::npos);
  s.write_config(std::string(kSettings) + "dynamicConfigFile=/conf/zoo.cfg.dynamic.77\n");
  EXPECT_NE(s.refusal().find("the dynamic file is lost"), std::string::npos);
  s.write_config("tickTime=2000\n");
  EXPECT_FALSE(s.force());
}

TEST(ForceMembership, AServerWithoutUsableDataIsRefused) {
  Survivor s;
  s.log({testing::create(kFirstTxn + 2, "/c", "3")});
  ASSERT_TRUE(s.disk.unlink(s.path_of("log.100000001")));
  EXPECT_NE(s.refusal().find("inspect verify"), std::string::npos);
}

TEST(MembersCommand, TextAndJsonNameTheSameMembers) {
  Survivor s;
  ASSERT_EQ(run_members(s.context, {.source = {kConfig, ""}}, s.world()), kFine);
  EXPECT_NE(s.out.text().find("dynamic file: version 0x100000000, in /conf/zoo.cfg.dynamic.100000000\n    " +
                              std::string(kSelf)),
            std::string::npos);
  Output out;
  const Context context{s.disk, out, s.notes, /*json=*/true};
  ASSERT_EQ(run_members(context, {.source = {kConfig, ""}}, s.world()), kFine);
  EXPECT_NE(out.text().find(R"("history":"0x111")"), std::string::npos);
  EXPECT_NE(out.text().find(R"("server.1=zk1:2888:3888:participant;0.0.0.0:2181")"), std::string::npos);
}

}  // namespace
}  // namespace drover::tools
