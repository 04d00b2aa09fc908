// SPDX-License-Identifier: Apache-2.0
//
// A request and the ensemble's state become checks and steps.
#include "cli/reconfig/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::cli::reconfig {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using State = Health::State;

EnsembleMember server(int id, bool observer = false) {
  const std::string line = "server." + std::to_string(id) + "=zk" + std::to_string(id) +
                           (observer ? ":2888:3888:observer;2181" : ":2888:3888:participant;2181");
  return *parse_ensemble_member(line);
}

Health health(State state) { return {.state = state, .trouble = "refused"}; }

// Server 1 leads.
Found ensemble(int voters, int observers = 0) {
  Found found;
  found.config.version = 0x100000000;
  for (int id = 1; id <= voters + observers; ++id) {
    found.config.members.push_back(server(id, id > voters));
    found.servers[id] = health(State::kServing);
  }
  found.servers[1].leads = true;
  return found;
}

Plan add(Found found, std::vector<EnsembleMember> joining, State state) {
  for (const EnsembleMember& member : joining) found.joining_health[member.id] = health(state);
  return make_plan(found, {.verb = Verb::kAdd, .joining = std::move(joining)});
}

std::vector<std::string> problems(const Plan& plan, Check::Kind kind = Check::Kind::kProblem) {
  std::vector<std::string> texts;
  for (const Check& check : plan.checks) {
    if (check.kind == kind) texts.push_back(check.text);
  }
  return texts;
}
std::vector<std::string> warnings(const Plan& plan) { return problems(plan, Check::Kind::kWarning); }

TEST(ReconfigPlan, SyncedServerBecomesAVoterInOneStep) {
  const Plan plan = add(ensemble(3), {server(4)}, State::kServing);
  EXPECT_FALSE(plan.has_problem());
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].joining, "server.4=zk4:2888:3888:participant;2181");
  EXPECT_EQ(plan.steps[0].leaving, "");
  EXPECT_THAT(plan.steps[0].wait, ElementsAre(4));
  EXPECT_EQ(plan.steps[0].undo, "drover reconfig remove 4");
  EXPECT_THAT(warnings(plan), ElementsAre("4 voters tolerate no more failures than 3"));
}

TEST(ReconfigPlan, ServersThatAreNotSyncedJoinAsObserversFirst) {
  const Plan plan = add(ensemble(3), {server(4), server(5)}, State::kNotServing);
  EXPECT_FALSE(plan.has_problem());
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(plan.steps[0].joining,
            "server.4=zk4:2888:3888:observer;2181,server.5=zk5:2888:3888:observer;2181");
  EXPECT_THAT(plan.steps[0].wait, ElementsAre(4, 5));
  EXPECT_EQ(plan.steps[1].joining,
            "server.4=zk4:2888:3888:participant;2181,server.5=zk5:2888:3888:participant;2181");
  EXPECT_EQ(quorum_text(plan.after), "5 voters: 3 make a quorum, 2 may fail");
}

TEST(ReconfigPlan, ObserverStaysAnObserver) {
  const Plan plan = add(ensemble(3), {server(4, true)}, State::kServing);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].joining, "server.4=zk4:2888:3888:observer;2181");
  EXPECT_EQ(voters_in(plan.after), 3u);
}

TEST(ReconfigPlan, ServerThatDoesNotRunIsAProblemThatCanBeForced) {
  const Plan plan = add(ensemble(3), {server(4)}, State::kDown);
  EXPECT_THAT(problems(plan), ElementsAre(HasSubstr("server.4 does not run: refused")));
  EXPECT_EQ(plan.steps.size(), 2u) << "it would still be an observer first";
}

TEST(ReconfigPlan, ServerWithAnotherIdIsRefused) {
  Found found = ensemble(3);
  found.joining_health[4] = health(State::kServing);
  found.joining_health[4].id = 5;
  const Plan plan = make_plan(found, {.verb = Verb::kAdd, .joining = {server(4)}});
  EXPECT_THAT(problems(plan), ElementsAre(HasSubstr("says that its id is 5")));
  EXPECT_THAT(plan.steps, IsEmpty());
}

TEST(ReconfigPlan, KnownIdUsedPortAndMissingClientPortAreRefused) {
  EXPECT_THAT(problems(add(ensemble(3), {server(2)}, State::kServing)),
              ElementsAre(HasSubstr("server.2 is a member already")));
  EXPECT_THAT(
      problems(add(ensemble(3), {*parse_ensemble_member("server.4=zk2:2888:3999;2182")}, State::kServing)),
      ElementsAre("server.4 has a port of server.2"));
  EXPECT_THAT(problems(add(ensemble(3), {*parse_ensemble_member("server.4=zk4:2888:3888")}, State::kServing)),
              ElementsAre(HasSubstr("has no client port")));
  EXPECT_THAT(problems(add(ensemble(3), {server(4), server(4)}, State::kServing)),
              Contains("server.4 is named twice"));
}

TEST(ReconfigPlan, SingleVoterCannotPromoteAnObserver) {
  // Java's leader does not count observers when it looks for a quorum of the new configuration.
  EXPECT_THAT(problems(add(ensemble(1), {server(2)}, State::kNotServing)),
              ElementsAre(HasSubstr("server.2 must be synced before it is added, because 1 voter")));
  EXPECT_FALSE(add(ensemble(1), {server(2)}, State::kServing).has_problem());
  EXPECT_FALSE(add(ensemble(2), {server(3)}, State::kNotServing).has_problem());
}

TEST(ReconfigPlan, RemovalThatCostsTheQuorumIsAProblem) {
  Found found = ensemble(3);
  found.servers[3] = health(State::kDown);
  const Plan bad = make_plan(found, {.verb = Verb::kRemove, .ids = {2}});
  EXPECT_THAT(problems(bad), ElementsAre("writes would stop: 1 of 2 voters would serve, and a quorum is 2"));
  const Plan good = make_plan(found, {.verb = Verb::kRemove, .ids = {3}});
  EXPECT_FALSE(good.has_problem());
  ASSERT_EQ(good.steps.size(), 1u);
  EXPECT_EQ(good.steps[0].leaving, "3");
  EXPECT_EQ(good.steps[0].undo, "drover reconfig add 'server.3=zk3:2888:3888:participant;2181'");
}

TEST(ReconfigPlan, RemovalOfTheLeaderIsAnnounced) {
  EXPECT_THAT(warnings(make_plan(ensemble(3), {.verb = Verb::kRemove, .ids = {1}})),
              Contains(HasSubstr("server.1 leads")));
}

TEST(ReconfigPlan, UnknownServersAndTheLastVoterAreNotRemoved) {
  const Plan unknown = make_plan(ensemble(3), {.verb = Verb::kRemove, .ids = {9}});
  EXPECT_THAT(problems(unknown), ElementsAre(HasSubstr("server.9 is not a member")));
  EXPECT_THAT(unknown.steps, IsEmpty());
  const Plan last = make_plan(ensemble(2), {.verb = Verb::kRemove, .ids = {1, 2}});
  EXPECT_THAT(problems(last), ElementsAre("no voter would be left"));
  EXPECT_THAT(last.steps, IsEmpty());
  EXPECT_THAT(warnings(make_plan(ensemble(2), {.verb = Verb::kRemove, .ids = {2}})),
              ElementsAre(HasSubstr("standaloneEnabled=false")));
}

TEST(ReconfigPlan, ReplacementAddsBeforeItRemoves) {
  Found found = ensemble(3);
  found.servers[3] = health(State::kDown);
  found.joining_health[4] = health(State::kNotServing);
  const Plan plan = make_plan(found, {.verb = Verb::kReplace, .joining = {server(4)}, .ids = {3}});
  EXPECT_FALSE(plan.has_problem());
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(plan.steps[0].joining, "server.4=zk4:2888:3888:observer;2181");
  EXPECT_EQ(plan.steps[0].undo, "drover reconfig remove 4");
  EXPECT_EQ(plan.steps[0].resume, "drover reconfig promote 4 && drover reconfig remove 3");
  EXPECT_EQ(plan.steps[1].joining, "server.4=zk4:2888:3888:participant;2181");
  EXPECT_EQ(plan.steps[1].leaving, "3");
  EXPECT_EQ(plan.steps[1].undo, "drover reconfig replace 4 'server.3=zk3:2888:3888:participant;2181'");
  EXPECT_EQ(voters_in(plan.after), 3u);
}

TEST(ReconfigPlan, ReplacementMayKeepTheId) {
  Found found = ensemble(3);
  found.servers[3] = health(State::kDown);
  found.joining_health[3] = health(State::kNotServing);
  const auto moved = *parse_ensemble_member("server.3=new:2888:3888;2181");
  const Plan plan = make_plan(found, {.verb = Verb::kReplace, .joining = {moved}, .ids = {3}});
  EXPECT_FALSE(plan.has_problem());
  ASSERT_EQ(plan.steps.size(), 2u);
  EXPECT_EQ(plan.steps[0].joining, "server.3=new:2888:3888:observer;2181");
  EXPECT_EQ(plan.steps[0].resume, "drover reconfig promote 3");
  EXPECT_EQ(plan.steps[1].leaving, "");
  EXPECT_EQ(plan.steps[1].resume, "");
  EXPECT_EQ(plan.steps[1].undo, "drover reconfig replace 3 'server.3=zk3:2888:3888:participant;2181'");
}

TEST(ReconfigPlan, MemberThatServesMovesToANewAddressItself) {
  Found found = ensemble(3);
  found.joining_health[3] = health(State::kDown);
  const auto moved = *parse_ensemble_member("server.3=zk3:2888:3888;2182");
  const Plan plan = make_plan(found, {.verb = Verb::kReplace, .joining = {moved}, .ids = {3}});
  EXPECT_FALSE(plan.has_problem());
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].joining, "server.3=zk3:2888:3888:participant;2182");
  EXPECT_EQ(plan.steps[0].undo, "drover reconfig replace 3 'server.3=zk3:2888:3888:participant;2181'");
}

TEST(ReconfigPlan, TwoServersWithOneIdAreAProblem) {
  Found found = ensemble(3);
  found.joining_health[3] = health(State::kNotServing);
  const auto other = *parse_ensemble_member("server.3=new:2888:3888;2181");
  EXPECT_THAT(problems(make_plan(found, {.verb = Verb::kReplace, .joining = {other}, .ids = {3}})),
              ElementsAre(HasSubstr("Stop the old one")));
}

TEST(ReconfigPlan, RolesChangeAndChangeBack) {
  const Plan up = make_plan(ensemble(3, 1), {.verb = Verb::kPromote, .ids = {4}});
  ASSERT_EQ(up.steps.size(), 1u);
  EXPECT_EQ(up.steps[0].joining, "server.4=zk4:2888:3888:participant;2181");
  EXPECT_EQ(up.steps[0].undo, "drover reconfig demote 4");
  const Plan down = make_plan(ensemble(3), {.verb = Verb::kDemote, .ids = {2}});
  ASSERT_EQ(down.steps.size(), 1u);
  EXPECT_EQ(down.steps[0].joining, "server.2=zk2:2888:3888:observer;2181");
  EXPECT_THAT(problems(make_plan(ensemble(3), {.verb = Verb::kPromote, .ids = {2}})),
              ElementsAre("server.2 is a voter already"));
  EXPECT_THAT(problems(make_plan(ensemble(3, 1), {.verb = Verb::kDemote, .ids = {4}})),
              ElementsAre("server.4 is an observer already"));
}

TEST(ReconfigPlan, ObserverThatIsDownIsNotPromoted) {
  Found found = ensemble(3, 1);
  found.servers[4] = health(State::kDown);
  EXPECT_THAT(problems(make_plan(found, {.verb = Verb::kPromote, .ids = {4}})),
              Contains(HasSubstr("server.4 does not run")));
}

TEST(ReconfigPlan, GroupsAndStandaloneServersAreRefused) {
  Found groups = ensemble(3);
  groups.config.has_groups = true;
  EXPECT_THAT(problems(make_plan(groups, {.verb = Verb::kRemove, .ids = {3}})),
              ElementsAre(HasSubstr("groups and weights")));
  EXPECT_THAT(problems(add({}, {server(1)}, State::kServing)), Contains(HasSubstr("standalone")));
}

TEST(ReconfigPlan, StepsNameOneServerOrSeveral) {
  EXPECT_EQ(add(ensemble(3), {server(4)}, State::kServing).steps[0].text, "make server.4 a voter");
  EXPECT_EQ(add(ensemble(3), {server(4), server(5)}, State::kServing).steps[0].text,
            "make server.4, server.5 voters");
  EXPECT_EQ(make_plan(ensemble(5), {.verb = Verb::kDemote, .ids = {2, 3}}).steps[0].text,
            "make server.2, server.3 observers");
}

TEST(ReconfigPlan, QuorumIsToldOnlyOfMembersThatAreCountedByNumber) {
  EXPECT_EQ(quorum_text(ensemble(3).config), "3 voters: 2 make a quorum, 1 may fail");
  EXPECT_EQ(quorum_text({}), "no members: this server is standalone");
  Found groups = ensemble(3);
  groups.config.has_groups = true;
  EXPECT_EQ(quorum_text(groups.config), "3 voters in groups");
}

TEST(ReconfigPlan, VoterThatIsAwayIsNamed) {
  Found found = ensemble(5);
  found.servers[4] = health(State::kDown);
  EXPECT_THAT(warnings(make_plan(found, {.verb = Verb::kDemote, .ids = {5}})),
              Contains("server.4 does not serve now"));
}

TEST(ReconfigPlan, LineKeepsAddressesAndClientPorts) {
  const auto member = *parse_ensemble_member("server.7=[::1]:1:2|b:3:4:observer;0.0.0.0:5;6");
  EXPECT_EQ(line_of(member, false), "server.7=[::1]:1:2|b:3:4:participant;0.0.0.0:5;6");
}

}  // namespace
}  // namespace drover::cli::reconfig
