// SPDX-License-Identifier: Apache-2.0
//
// SASL in the configuration: the keys, the JAAS file, and the combinations that nobody could use.
#include "config/sasl_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_testing.h"

namespace drover::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kUsers = R"(Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_super="a"
  user_bob="b";
};
Other {
  com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true
  keyTab="/etc/zk.keytab" principal="zookeeper/h@R";
};
Client { com.example.LoginModule required; };
)";
constexpr const char* kFile = "java.security.auth.login.config=/jaas.conf\n";
constexpr const char* kProvider =
    "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n";

Loaded load_sasl(const std::string& lines, const std::string& jaas = kUsers,
                 std::vector<std::string> properties = {}) {
  properties.insert(properties.begin(), "zoo.cfg");
  return load(Files().with("zoo.cfg", "dataDir=/data\nclientPort=2181\n" + lines).with("/jaas.conf", jaas),
              properties);
}

TEST(ConfigSasl, UsersAreThoseOfTheJaasFile) {
  const Loaded loaded = load_sasl(std::string(kFile) + kProvider);
  const SaslSettings sasl = config_of(loaded).sasl;
  EXPECT_THAT(warnings_of(loaded), IsEmpty());
  ASSERT_TRUE(sasl.login);
  EXPECT_EQ(sasl.login->users.at("bob").reveal(), "b");
  EXPECT_EQ(sasl.source, "/jaas.conf:1");
  EXPECT_TRUE(sasl.provider);
}

TEST(ConfigSasl, TheFileMayBeNamedAsForAJvm) {
  for (const char* value : {"/jaas.conf", "file:/jaas.conf", "file:///jaas.conf", "=/jaas.conf"}) {
    const auto loaded =
        load_sasl(kProvider, kUsers, {"-Djava.security.auth.login.config=" + std::string(value)});
    EXPECT_TRUE(config_of(loaded).sasl.login) << value;
  }
}

TEST(ConfigSasl, AnotherSectionMayBeTheServers) {
  const SaslSettings sasl =
      config_of(load_sasl(std::string(kFile) + kProvider, kUsers, {"-Dzookeeper.sasl.serverconfig=Other"}))
          .sasl;
  ASSERT_TRUE(sasl.login && sasl.login->kerberos);
  EXPECT_EQ(sasl.login->kerberos->principal, "zookeeper/h@R");
  EXPECT_EQ(error_of(load_sasl(std::string(kFile) + "sasl.serverconfig=None\n")),
            "/jaas.conf: sasl.serverconfig: there is no section None");
  EXPECT_EQ(error_of(load_sasl("sasl.serverconfig=Other\n")),
            "zoo.cfg: sasl.serverconfig needs java.security.auth.login.config");
}

TEST(ConfigSasl, AFileForOtherLoginsIsReported) {
  const Loaded loaded = load_sasl(kFile, "Client { com.example.LoginModule required; };");
  EXPECT_FALSE(config_of(loaded).sasl.login);
  EXPECT_THAT(warnings_of(loaded), ElementsAre(HasSubstr("no client can log in with SASL")));
}

TEST(ConfigSasl, AnErrorNamesTheFileAndTheLine) {
  EXPECT_EQ(error_of(load_sasl(kFile, "Server {\n  nothing\n")),
            "/jaas.conf:3: expected required, requisite, sufficient or optional, found the end of the file");
  EXPECT_THAT(error_of(load_sasl(kFile, "\nServer { com.example.LoginModule required; };")),
              HasSubstr("/jaas.conf:2: login module com.example.LoginModule"));
  EXPECT_THAT(error_of(load_lines(kFile)),
              HasSubstr("java.security.auth.login.config: cannot open /jaas.conf"));
}

TEST(ConfigSasl, ALoginThatNoAclCanNameIsReported) {
  EXPECT_THAT(warnings_of(load_sasl(kFile)), ElementsAre(HasSubstr("SASLAuthenticationProvider is missing")));
}

TEST(ConfigSasl, TheSuperPasswordReplacesThatOfTheFile) {
  const std::string lines =
      std::string(kFile) + kProvider + "SASLAuthenticationProvider.superPassword=other\n";
  EXPECT_EQ(config_of(load_sasl(lines)).sasl.login->users.at("super").reveal(), "other");
  const Loaded without =
      load_sasl(lines, "Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_bob=b; };");
  EXPECT_FALSE(config_of(without).sasl.login->users.contains("super")) << "as in Java";
  EXPECT_THAT(warnings_of(without), ElementsAre(HasSubstr("no user_super")));
}

TEST(ConfigSasl, EverySuperUserCounts) {
  const SaslSettings sasl = config_of(load_lines("superUser=a\nsuperUser.1=b\nsuperUser.x=c\n")).sasl;
  EXPECT_THAT(sasl.super_users, UnorderedElementsAre("a", "b", "c"));
  EXPECT_THAT(config_of(load_lines("superUserX=a\n")).sasl.super_users, IsEmpty());
}

TEST(ConfigSasl, ARequiredLoginReplacesTheEnforcedSchemes) {
  const Loaded loaded = load_sasl(std::string(kFile) + kProvider +
                                  "enforce.auth.schemes=digest\nsessionRequireClientSASLAuth=true\n");
  EXPECT_TRUE(config_of(loaded).auth.enforce_auth);
  EXPECT_THAT(config_of(loaded).auth.enforce_schemes, ElementsAre("sasl"));
}

TEST(ConfigSasl, ARequiredLoginMustBePossible) {
  EXPECT_EQ(error_of(load_sasl(std::string(kFile) + "sessionRequireClientSASLAuth=true\n")),
            "zoo.cfg: enforce.auth.schemes: sasl is not available: "
            "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider is missing");
  EXPECT_EQ(error_of(load_sasl(std::string(kProvider) + "sessionRequireClientSASLAuth=true\n")),
            "zoo.cfg: clients must log in with SASL, but nobody can: set java.security.auth.login.config");
  EXPECT_TRUE(
      load_sasl(std::string(kProvider) + "enforce.auth.enabled=true\nenforce.auth.schemes=sasl,digest\n"))
      << "clients have another way";
}

TEST(ConfigSasl, RulesForKerberosNamesAreRead) {
  const SaslSettings sasl = config_of(load_lines("kerberos.removeHostFromPrincipal=true\n"
                                                 "kerberos.removeRealmFromPrincipal=true\n"
                                                 "security.auth_to_local=RULE:[1:$1]\nletAnySaslUserDoX=x\n",
                                                 {"-Djava.security.krb5.conf=/etc/k"}))
                                .sasl;
  EXPECT_TRUE(sasl.remove_host && sasl.remove_realm);
  EXPECT_EQ(sasl.auth_to_local, "RULE:[1:$1]");
  EXPECT_EQ(sasl.any_user, "x");
  EXPECT_EQ(sasl.krb5_config, "/etc/k");
  EXPECT_FALSE(config_of(load_lines("")).sasl.remove_host);
}

}  // namespace
}  // namespace drover::server
