// SPDX-License-Identifier: Apache-2.0
//
// SASL between servers in the configuration: the keys, the sections of the JAAS file, and what keeps servers
// apart.
#include "config/quorum_logins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_testing.h"

namespace drover::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPasswords = R"(QuorumServer {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_zk="secret";
};
QuorumLearner {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  username="zk"
  password="secret";
};
)";
constexpr const char* kKerberos = R"(
Accepts { com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true
  keyTab="/k" principal="zkquorum/zk1@R"; };
LogsIn { com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true
  keyTab="/k" principal="learner/zk1@R"; };
)";
constexpr const char* kSections =
    "quorum.auth.server.saslLoginContext=Accepts\nquorum.auth.learner.saslLoginContext=LogsIn\n";
constexpr const char* kEnabled = "quorum.auth.enableSasl=true\njava.security.auth.login.config=/jaas.conf\n";
constexpr const char* kMembers =
    "initLimit=10\nsyncLimit=5\nserver.1=zk1:2888:3888\nserver.2=zk2:2888:3888\nserver.3=zk3:2888:3888\n";

Loaded load_quorum(const std::string& lines, const std::string& jaas = kPasswords,
                   const std::string& members = kMembers) {
  return load(Files()
                  .with("zoo.cfg", "dataDir=/data\nclientPort=2181\n" + members + lines)
                  .with("/data/myid", "1\n")
                  .with("/jaas.conf", jaas),
              {"zoo.cfg"});
}

TEST(ConfigQuorumSasl, ItIsOffUnlessItIsEnabled) {
  const QuorumSaslSettings q = config_of(load_quorum("")).sasl.quorum;
  EXPECT_FALSE(q.enabled || q.learner_requires || q.server_requires);
  EXPECT_FALSE(q.server_login || q.learner_login);
}

TEST(ConfigQuorumSasl, LoginsAreThoseOfTheJaasFile) {
  const Loaded loaded = load_quorum(std::string(kEnabled) +
                                    "quorum.auth.learnerRequireSasl=true\n"
                                    "quorum.auth.serverRequireSasl=true\n");
  const QuorumSaslSettings q = config_of(loaded).sasl.quorum;
  EXPECT_THAT(warnings_of(loaded), IsEmpty()) << "there is no section Server, and that is fine";
  EXPECT_TRUE(q.enabled && q.learner_requires && q.server_requires);
  ASSERT_TRUE(q.server_login && q.learner_login);
  EXPECT_EQ(q.server_login->users.at("zk").reveal(), "secret");
  EXPECT_EQ(q.learner_login->username, "zk");
  EXPECT_EQ(q.server_source, "/jaas.conf:1");
  EXPECT_EQ(q.learner_source, "/jaas.conf:5");
}

TEST(ConfigQuorumSasl, SectionsAndPrincipalMayHaveOtherNames) {
  const Loaded loaded = load_quorum(
      std::string(kEnabled) + kSections + "quorum.auth.kerberos.servicePrincipal=zk/_HOST\n", kKerberos);
  EXPECT_THAT(warnings_of(loaded), IsEmpty());
  const QuorumSaslSettings q = config_of(loaded).sasl.quorum;
  EXPECT_EQ(q.service_principal, "zk/_HOST");
  ASSERT_TRUE(q.server_login && q.server_login->kerberos && q.learner_login && q.learner_login->kerberos);
  EXPECT_EQ(q.server_login->kerberos->principal, "zkquorum/zk1@R");
  EXPECT_EQ(q.learner_login->kerberos->principal, "learner/zk1@R");
}

// ZooKeeper's rules, in the order of the rolling upgrade.
TEST(ConfigQuorumSasl, EachStepNeedsTheOneBefore) {
  EXPECT_EQ(error_of(load_quorum("quorum.auth.learnerRequireSasl=true\n")),
            "zoo.cfg: quorum.auth.learnerRequireSasl needs quorum.auth.enableSasl=true");
  EXPECT_EQ(error_of(load_quorum("quorum.auth.serverRequireSasl=true\n")),
            "zoo.cfg: quorum.auth.serverRequireSasl needs quorum.auth.enableSasl=true");
  EXPECT_EQ(error_of(load_quorum(std::string(kEnabled) + "quorum.auth.serverRequireSasl=true\n")),
            "zoo.cfg: quorum.auth.serverRequireSasl needs quorum.auth.learnerRequireSasl=true");
  EXPECT_EQ(error_of(load_quorum("quorum.auth.enableSasl=true\n")),
            "zoo.cfg: quorum.auth.enableSasl needs java.security.auth.login.config");
  EXPECT_THAT(error_of(load_quorum("quorum.auth.enableSasl=yes\n")), HasSubstr("expected true or false"));
}

TEST(ConfigQuorumSasl, BothSectionsMustBeThere) {
  EXPECT_EQ(error_of(load_quorum(kEnabled, kKerberos)),
            "/jaas.conf: there is no section QuorumServer (quorum.auth.server.saslLoginContext)");
  EXPECT_EQ(error_of(load_quorum(std::string(kEnabled) + "quorum.auth.learner.saslLoginContext=X\n")),
            "/jaas.conf: there is no section X (quorum.auth.learner.saslLoginContext)");
  EXPECT_THAT(
      error_of(load_quorum(std::string(kEnabled) + "quorum.auth.learner.saslLoginContext=QuorumServer\n")),
      HasSubstr("/jaas.conf:1: section QuorumServer logs in as nobody"));
}

TEST(ConfigQuorumSasl, AStandaloneServerNeedsNoSections) {
  EXPECT_FALSE(config_of(load_quorum(kEnabled, kKerberos, "")).sasl.quorum.server_login);
}

TEST(ConfigQuorumSasl, AServicePrincipalIsAServiceAndAHost) {
  for (const char* bad : {"zkquorum", "/_HOST", "zkquorum/", "zkquorum/_HOST@R", "zk@R/_HOST", "a/b/_HOST"}) {
    EXPECT_THAT(error_of(load_quorum("quorum.auth.kerberos.servicePrincipal=" + std::string(bad) + "\n")),
                HasSubstr("expected SERVICE/_HOST"))
        << bad;
  }
}

TEST(ConfigQuorumSasl, LoginsThatTheSameFileRefusesAreReported) {
  const std::string other = "QuorumLearner { org.apache.zookeeper.server.auth.DigestLoginModule required ";
  const std::string accepts =
      "QuorumServer { org.apache.zookeeper.server.auth.DigestLoginModule required user_zk=secret; };";
  for (const char* login : {"username=zk password=other; };", "username=kz password=secret; };"}) {
    const Loaded loaded = load_quorum(kEnabled, accepts + other + login);
    EXPECT_THAT(warnings_of(loaded), ElementsAre(HasSubstr("section QuorumServer does not accept user")))
        << login;
    EXPECT_THAT(warnings_of(loaded)[0], testing::Not(HasSubstr("other")));
  }
  EXPECT_THAT(warnings_of(load_quorum(std::string(kEnabled) + "quorum.auth.learner.saslLoginContext=LogsIn\n",
                                      std::string(kPasswords) + kKerberos)),
              ElementsAre(HasSubstr("logs in with Kerberos, which section QuorumServer does not accept")));
}

TEST(ConfigQuorumSasl, APrincipalOfAHostThatIsNoServerIsReported) {
  EXPECT_THAT(warnings_of(load_quorum(std::string(kEnabled) + kSections, kKerberos)),
              ElementsAre(HasSubstr("for example to zkquorum/_HOST")));
  EXPECT_THAT(
      warnings_of(load_quorum(
          std::string(kEnabled) + kSections + "quorum.auth.kerberos.servicePrincipal=zk/zk2\n", kKerberos)),
      IsEmpty());
}

}  // namespace
}  // namespace drover::server
