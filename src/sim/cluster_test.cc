// SPDX-License-Identifier: Apache-2.0
//
// Runs of the whole cluster: a seed always gives the same run; and the stories of script.cc as scenarios.
// drover-sim runs thousands of seeds and every crash point; a unit test does not.
#include "sim/cluster.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sim/script.h"
#include "sim/sweep.h"

namespace drover::sim {
namespace {

TEST(Cluster, SameSeedGivesTheSameRun) {
  Cluster first(plan_of(17), {});
  Cluster again(plan_of(17), {});
  Cluster other(plan_of(18), {});
  EXPECT_TRUE(first.run()) << first.failure();
  EXPECT_TRUE(again.run()) << again.failure();
  EXPECT_TRUE(other.run()) << other.failure();
  EXPECT_EQ(first.events(), again.events());
  EXPECT_EQ(first.simulated(), again.simulated());
  EXPECT_EQ(first.operations(), again.operations());
  EXPECT_NE(first.events(), other.events());
}

TEST(Cluster, StopsAtTheGivenEvent) {
  Cluster cluster(plan_of(17), {.until = 500});
  EXPECT_FALSE(cluster.run());
  EXPECT_EQ(cluster.events(), 500u);
}

class Stories : public ::testing::TestWithParam<std::string> {};

TEST_P(Stories, PassWithoutCrashes) {
  const Script& script = *find_script(GetParam());
  Tally tally;
  {
    Cluster cluster(script.plan, {.tally = &tally});
    EXPECT_TRUE(tell(cluster, script)) << cluster.failure();
    EXPECT_GT(cluster.operations(), 20u) << "a story in which nobody does anything proves nothing";
  }
  for (const Did what : script.shows) EXPECT_GT(tally.of(what), 0u) << name_of(what);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Script& script : scripts()) all.push_back(script.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Scripts, Stories, ::testing::ValuesIn(names()), [](const auto& param_info) {
  std::string name = param_info.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Sweep, CaseRoundTripsThroughText) {
  const SweepCase each{ServerId{2}, {SimServer::CrashPoint::Kind::kSend, 41, storage::Survival::kTear}};
  EXPECT_EQ(text_of(each), "2:send:41:tear");
  EXPECT_EQ(text_of(parse_sweep_case("2:send:41:tear")), "2:send:41:tear");
  EXPECT_EQ(raw(parse_sweep_case("2:send:41").server), 0);
  EXPECT_EQ(raw(parse_sweep_case("2:mail:41:tear").server), 0);
}

TEST_P(Stories, CrashPointsCoverEveryStepOfEveryServer) {
  const Script& script = *find_script(GetParam());
  Cluster cluster(script.plan, {});
  ASSERT_TRUE(tell(cluster, script)) << cluster.failure();
  std::map<std::string, std::uint64_t> visited;  // by server, kind and fate
  for (const SweepCase& each : sweep_cases(script)) {
    std::string text = text_of(each);
    ++visited[text.erase(text.find(':', 3), text.rfind(':') - text.find(':', 3))];
  }
  for (const ServerId id : script.plan.servers()) {
    const std::string server = std::to_string(raw(id));
    for (const char* fate : {":lose", ":keep", ":tear"}) {
      EXPECT_GT(visited[server + ":disk" + fate], 30u);
      EXPECT_EQ(visited[server + ":disk" + fate], cluster.server(id).disk_operations());
    }
    EXPECT_GT(visited[server + ":send:lose"], 30u);
    EXPECT_EQ(visited[server + ":send:lose"], cluster.server(id).sends());
  }
}

TEST(Sweep, CrashPointStopsTheProcessOnceAndTheClusterRecovers) {
  const Script& script = *find_script("boot-and-write");
  Cluster cluster(script.plan, {});
  SimServer& server = cluster.server(ServerId{1});
  server.set_crash_point({SimServer::CrashPoint::Kind::kDisk, 9, storage::Survival::kLose});
  EXPECT_TRUE(tell(cluster, script)) << cluster.failure();
  EXPECT_EQ(server.lives(), 2u);
}

}  // namespace
}  // namespace drover::sim
