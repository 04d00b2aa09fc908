// SPDX-License-Identifier: Apache-2.0
//
// The keys that make a server a member of an ensemble, and the rules between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"
#include "config/config_testing.h"

namespace drover::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Loaded load_ensemble(const std::string& lines, const std::string& my_id = "1\n") {
  return load(Files()
                  .with("zoo.cfg", "dataDir=/data\nclientPort=2181\ninitLimit=10\nsyncLimit=5\n" + lines)
                  .with("/data/myid", my_id)
                  .with("/dyn", "server.1=a:1:2;2181\nserver.2=b:1:2;2181\nserver.3=c:1:2;2181\n")
                  .with("/dyn.1f", "server.1=a:1:2;2181\nserver.2=b:1:2\nserver.3=c:1:2\n"),
              {"zoo.cfg"});
}
const std::string kThree = "server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2\n";

TEST(ConfigEnsemble, ThreeServersMakeAnEnsemble) {
  const Loaded loaded = load_ensemble(kThree);
  const ServerConfig c = config_of(loaded);
  EXPECT_TRUE(c.ensemble.is_distributed());
  EXPECT_EQ(c.ensemble.my_id, ServerId{1});
  EXPECT_EQ(c.ensemble.init_limit_ticks, 10);
  EXPECT_THAT(warnings_of(loaded), IsEmpty());
}

TEST(ConfigEnsemble, ASingleServerRunsStandaloneUnlessSwitchedOff) {
  EXPECT_FALSE(config_of(load_ensemble("server.1=a:1:2\n")).ensemble.is_distributed());
  EXPECT_TRUE(
      config_of(load_ensemble("server.1=a:1:2\nstandaloneEnabled=false\n")).ensemble.is_distributed());
  EXPECT_THAT(warnings_of(load_ensemble("server.1=a:1:2\n")), ElementsAre(HasSubstr("runs standalone")));
}

TEST(ConfigEnsemble, TheServerLineMayContainTheClientPort) {
  const Loaded loaded = load(
      Files().with("z", "dataDir=/d\nserver.1=localhost:1:2;127.0.0.1:2199\n").with("/d/myid", "1"), {"z"});
  EXPECT_EQ(config_of(loaded).client, (Endpoint{"127.0.0.1", 2199}));
  EXPECT_THAT(error_of(load_ensemble("server.1=a:1:2;2199\nserver.2=b:1:2\nserver.3=c:1:2\n")),
              HasSubstr("clientPort says 0.0.0.0:2181, server.1 says 0.0.0.0:2199"));
}

TEST(ConfigEnsemble, ABadServerLineIsReportedWithItsKey) {
  EXPECT_THAT(error_of(load_ensemble("server.1=a:1\n")),
              HasSubstr("zoo.cfg:5: server.1=a:1: expected host:quorumPort"));
  EXPECT_THAT(error_of(load_ensemble("server.x=a:1:2\n")), HasSubstr("zoo.cfg:5: server.x"));
  EXPECT_THAT(error_of(load_ensemble("server.1=a:1:2|b:1:2\n")), HasSubstr("multiAddress.enabled"));
  EXPECT_TRUE(load_ensemble("server.1=a:1:2|b:1:2\nmultiAddress.enabled=true\n"));
}

TEST(ConfigEnsemble, AMemberNeedsMyidInitLimitAndSyncLimit) {
  const Files no_id = Files().with("z", "dataDir=/d\nclientPort=1\ninitLimit=1\nsyncLimit=1\n" + kThree);
  EXPECT_EQ(error_of(load(no_id, {"z"})), "z: /d/myid is missing");
  EXPECT_EQ(error_of(load_ensemble(kThree, "9")), "zoo.cfg: myid is 9, and there is no server.9");
  EXPECT_EQ(error_of(load_ensemble(kThree, "one")), "/data/myid: one is not a server id");
  EXPECT_EQ(error_of(load_ensemble("initLimit=0\n" + kThree)), "zoo.cfg: initLimit is not set");
}

TEST(ConfigEnsemble, ARemovedServerIsToldHowToComeBack) {
  const Files files = Files()
                          .with("zoo.cfg",
                                "dataDir=/data\nclientPort=2181\ninitLimit=10\nsyncLimit=5\n"
                                "reconfigEnabled=true\ndynamicConfigFile=/conf/zoo.cfg.dynamic.100000004\n")
                          .with("/conf/zoo.cfg.dynamic.100000004", kThree)
                          .with("/data/myid", "4");
  EXPECT_THAT(error_of(load(files, {"zoo.cfg"})),
              AllOf(HasSubstr("myid is 4, and there is no server.4"),
                    HasSubstr("may have removed this server"), HasSubstr("add it with reconfig")));
}

TEST(ConfigEnsemble, AMembershipThatCanChangeIsInTheFile) {
  const std::string lines = "reconfigEnabled=true\n";
  EXPECT_THAT(warnings_of(load_ensemble(lines + kThree)), IsEmpty());
  EXPECT_TRUE(config_of(load_ensemble(lines + kThree)).file_path.ends_with("/zoo.cfg"));
  const Files files = Files()
                          .with("zoo.cfg", "dataDir=/data\nclientPort=2181\ninitLimit=10\nsyncLimit=5\n" +
                                               lines + "server.1=a:1:2\nserver.2=b:1:2\n")
                          .with("/data/myid", "1");
  EXPECT_TRUE(load(files, {"zoo.cfg"}));
  EXPECT_THAT(error_of(load(files, {"zoo.cfg", "-Dserver.3=c:1:2"})), HasSubstr("must be in the file"));
  EXPECT_THAT(error_of(load(files, {"-DdataDir=/data", "-DreconfigEnabled=true", "-DinitLimit=10",
                                    "-DsyncLimit=5", "-Dserver.1=a:1:2", "-Dserver.2=b:1:2"})),
              HasSubstr("needs a configuration file"));
}

TEST(ConfigEnsemble, WithTtlNodesMyidIsLimited) {
  const std::string servers = kThree + "server.254=d:1:2\nserver.255=e:1:2\n";
  EXPECT_TRUE(load_ensemble(servers, "255"));
  EXPECT_TRUE(load_ensemble("extendedTypesEnabled=true\n" + servers, "254"));
  EXPECT_EQ(error_of(load_ensemble("extendedTypesEnabled=true\n" + servers, "255")),
            "zoo.cfg: myid is 255, and with extendedTypesEnabled it may be 254 at most");
}

TEST(ConfigEnsemble, ObserversNeedParticipants) {
  EXPECT_THAT(error_of(load_ensemble("server.1=a:1:2:observer\n")), HasSubstr("observers need"));
  EXPECT_THAT(error_of(load_ensemble("standaloneEnabled=false\n")), HasSubstr("at least one participant"));
}

TEST(ConfigEnsemble, TheServerListDecidesTheRole) {
  const Loaded loaded = load_ensemble(kThree + "peerType=observer\n");
  EXPECT_EQ(config_of(loaded).ensemble.peer_type, PeerType::kParticipant);
  EXPECT_THAT(warnings_of(loaded), ElementsAre(HasSubstr("peerType=observer")));
}

TEST(ConfigEnsemble, EvenNumbersOfParticipantsGetAWarning) {
  EXPECT_THAT(warnings_of(load_ensemble(kThree + "server.4=d:1:2\n")),
              ElementsAre("zoo.cfg: 4 participants tolerate no more failures than 3"));
}

TEST(ConfigEnsemble, TheDynamicFileHoldsTheMembersAndItsNameHoldsTheVersion) {
  EXPECT_EQ(config_of(load_ensemble("dynamicConfigFile=/dyn\n")).ensemble.members.servers().size(), 3U);
  EXPECT_EQ(config_of(load_ensemble("dynamicConfigFile=/dyn\n")).ensemble.members.version(), 0);
  EXPECT_EQ(config_of(load_ensemble("dynamicConfigFile=/dyn.1f\n")).ensemble.members.version(), 0x1f);
  EXPECT_THAT(error_of(load_ensemble("dynamicConfigFile=/dyn\nserver.1=a:1:2\n")),
              HasSubstr("must be in the dynamicConfigFile"));
  EXPECT_THAT(error_of(load_ensemble("dynamicConfigFile=/none\n")), HasSubstr("cannot open /none"));
  EXPECT_THAT(error_of(load_ensemble("dynamicConfigFile=zoo.cfg\n")),
              HasSubstr("not a key of a dynamic file"));
}

TEST(ConfigEnsemble, TheLogMayBeUsedForADiffUpToAPartOfTheSnapshot) {
  const auto factor = [](const std::string& value) {
    return config_of(load_ensemble("snapshotSizeFactor=" + value + "\n" + kThree))
        .ensemble.snapshot_size_factor;
  };
  EXPECT_EQ(config_of(load_ensemble(kThree)).ensemble.snapshot_size_factor, 0.33);
  EXPECT_EQ(factor("0"), 0);
  EXPECT_EQ(factor("0.5"), 0.5);
  EXPECT_EQ(factor("-1"), -1);
  EXPECT_EQ(factor("2"), 0.33);
  EXPECT_THAT(warnings_of(load_ensemble("snapshotSizeFactor=2\n" + kThree)),
              ElementsAre(HasSubstr("0.33 is used")));
  for (const char* value : {"nan", "x", ""})
    EXPECT_THAT(error_of(load_ensemble(std::string("snapshotSizeFactor=") + value + "\n" + kThree)),
                HasSubstr("expected a number from 0 to 1, or a negative number"))
        << value;
}

TEST(ConfigEnsemble, AtLeastOneLearnerIsSyncedAtATime) {
  const EnsembleConfig e = config_of(load_ensemble(kThree)).ensemble;
  EXPECT_EQ(e.snap_syncs_max, 10);
  EXPECT_EQ(e.diff_syncs_max, 100);
  for (const char* key : {"leader.maxConcurrentSnapSyncs", "leader.maxConcurrentDiffSyncs"}) {
    EXPECT_TRUE(load_ensemble(std::string(key) + "=1\n" + kThree));
    EXPECT_THAT(error_of(load_ensemble(std::string(key) + "=0\n" + kThree)), HasSubstr(key));
  }
}

}  // namespace
}  // namespace drover::server
