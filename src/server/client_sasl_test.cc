// SPDX-License-Identifier: Apache-2.0
#include "server/client_sasl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drover::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

SaslSettings with_users() {
  SaslSettings settings;
  settings.source = "/jaas.conf:7";
  settings.login.emplace();
  settings.login->users.emplace("bob", Secret("b"));
  return settings;
}

TEST(ClientSasl, WithoutALoginThereIsNone) {
  const auto factory = client_sasl({});
  ASSERT_TRUE(factory);
  EXPECT_EQ(*factory, nullptr);
}

TEST(ClientSasl, UsersLogInWithDigestMd5) {
  const auto factory = client_sasl(with_users());
  ASSERT_TRUE(factory) << factory.error().what;
  const SaslStep step = (*factory)->start()->step("");
  EXPECT_EQ(step.status, SaslStep::Status::kContinue);
  EXPECT_THAT(step.token.value_or(""), HasSubstr("realm=\"zk-sasl-md5\""));
}

TEST(ClientSasl, PasswordsOverHttpAreThoseOfTheFile) {
  const SaslSettings settings = with_users();
  const auto check = password_check(settings);
  ASSERT_TRUE(check && *check);
  EXPECT_EQ((*check)("bob", "b"), "bob");
  for (const char* wrong : {"", "B", "bb", "b "}) EXPECT_FALSE((*check)("bob", wrong)) << wrong;
  EXPECT_FALSE((*check)("eve", "b"));
  EXPECT_FALSE((*check)("eve", ""));
  EXPECT_FALSE(*password_check({}));
}

TEST(ClientSasl, PasswordsOverHttpFollowTheRulesOfNames) {
  SaslSettings settings = with_users();
  settings.login->users.emplace("hbase/node1@R", Secret("h"));
  settings.login->users.emplace("nobody", Secret());
  settings.auth_to_local = "RULE:[2:$1]";
  settings.remove_host = settings.remove_realm = true;
  const auto check = password_check(settings);
  ASSERT_TRUE(check && *check);
  EXPECT_EQ((*check)("hbase/node1@R", "h"), "hbase");
  EXPECT_FALSE((*check)("nobody", "")) << "an empty password";
}

TEST(ClientSasl, AnErrorNamesThePlaceInTheFile) {
  SaslSettings settings = with_users();
  settings.login->kerberos.emplace();
  settings.login->kerberos->principal = "zookeeper/h@R";
  settings.login->kerberos->key_tab = "/nowhere/keytab";
  const auto factory = client_sasl(settings);
  ASSERT_FALSE(factory);
  EXPECT_THAT(factory.error().what, StartsWith("/jaas.conf:7: "));
  EXPECT_THAT(factory.error().what, HasSubstr("/nowhere/keytab"));
}

TEST(ClientSasl, ARuleThatCannotBeReadIsNamed) {
  SaslSettings settings = with_users();
  settings.auth_to_local = "NONSENSE";
  const auto factory = client_sasl(settings);
  ASSERT_FALSE(factory);
  EXPECT_THAT(factory.error().what, StartsWith("security.auth_to_local: "));
}

}  // namespace
}  // namespace drover::server
