// SPDX-License-Identifier: Apache-2.0
#include "sasl/login.h"

#include <gtest/gtest.h>

namespace drover::sasl {
namespace {

constexpr const char* kDigest = "org.apache.zookeeper.server.auth.DigestLoginModule required ";
constexpr const char* kKerberos = "com.sun.security.auth.module.Krb5LoginModule required ";

JaasFile file_of(const std::string& entries) {
  auto file = parse_jaas("Server {\n" + entries + "};", [](auto) { return std::nullopt; });
  EXPECT_TRUE(file) << file.error().message;
  return *file;
}

Login login(const std::string& entries) {
  auto result = login_of(file_of(entries)[0]);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : Login{};
}

std::string error_of_server(const std::string& entries) {
  const auto result = server_login_of(file_of(entries)[0]);
  EXPECT_FALSE(result);
  return result ? "" : std::to_string(result.error().line) + ": " + result.error().message;
}

TEST(JaasLogin, TheUsersOfADigestModuleAreTheOptionsWithAPrefix) {
  const Login users =
      login(std::string(kDigest) + "user_bob=\"a\" user_=\"nobody\" other=x user_user_x=\"b\";");
  ASSERT_EQ(users.users.size(), 3u);
  EXPECT_EQ(users.users.at("bob").reveal(), "a");
  EXPECT_EQ(users.users.at("").reveal(), "nobody");
  EXPECT_EQ(users.users.at("user_x").reveal(), "b");
  EXPECT_FALSE(users.kerberos);
}

TEST(JaasLogin, AClientHasANameAndAPassword) {
  const Login client = login(std::string(kDigest) + "username=\"bob\" password=\"a\";");
  EXPECT_EQ(client.username, "bob");
  EXPECT_EQ(client.password.reveal(), "a");
  EXPECT_TRUE(client.users.empty());
}

TEST(JaasLogin, UsersOfSeveralModulesAddUp) {
  const Login users = login(std::string(kDigest) + "user_a=\"1\" user_b=\"1\";" + kDigest + "user_b=\"2\";");
  EXPECT_EQ(users.users.size(), 2u);
  EXPECT_EQ(users.users.at("b").reveal(), "2");
}

TEST(JaasLogin, AKerberosModuleNamesItsKey) {
  const auto server = server_login_of(file_of(
      std::string(kKerberos) +
      "useKeyTab=True storeKey=true useTicketCache=false keyTab=\"/etc/zk.keytab\" principal=\"zk/h@R\";")
                                          [0]);
  ASSERT_TRUE(server && server->kerberos);
  EXPECT_EQ(server->kerberos->principal, "zk/h@R");
  EXPECT_EQ(server->kerberos->key_tab, "/etc/zk.keytab");
  EXPECT_FALSE(server->kerberos->use_ticket_cache);
}

TEST(JaasLogin, AKeyTableMayBeAUrl) {
  const auto key_tab = [](const std::string& written) {
    return login(std::string(kKerberos) + "useKeyTab=true keyTab=\"" + written + "\";").kerberos->key_tab;
  };
  EXPECT_EQ(key_tab("file:/etc/k"), "/etc/k");
  EXPECT_EQ(key_tab("file:///etc/k"), "/etc/k");
  EXPECT_EQ(key_tab("conf/k"), "conf/k");
  EXPECT_EQ(key_tab(""), "");
}

TEST(JaasLogin, AnUnknownModuleIsRefusedByItsName) {
  const auto result = login_of(file_of("\ncom.example.LoginModule required;")[0]);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().line, 3);
  EXPECT_NE(result.error().message.find("com.example.LoginModule"), std::string::npos);
  EXPECT_FALSE(login_of(JaasSection{.name = "Server", .line = 1})) << "no module at all";
}

TEST(JaasLogin, AServerNeedsUsersOrAKey) {
  EXPECT_EQ(error_of_server(std::string(kDigest) + "username=a password=b;"),
            "1: section Server has no users: expected user_NAME=\"PASSWORD\"");
  EXPECT_EQ(error_of_server(std::string(kKerberos) + "useKeyTab=true storeKey=true principal=\"zk/h@R\";"),
            "1: a server needs keyTab=\"/path/of/its/keytab\"");
  const std::string key = std::string(kKerberos) + "useKeyTab=true storeKey=true keyTab=k principal=";
  EXPECT_EQ(error_of_server(std::string(kKerberos) + "useTicketCache=true principal=\"zk/h@R\";"),
            "1: a server needs useKeyTab=true and storeKey=true: it accepts logins with a key");
  for (const char* principal : {"zk@R", "zk/@R", "/h@R", "zk/h/x@R", ""}) {
    EXPECT_EQ(error_of_server(key + '"' + principal + "\";"), "1: principal: expected SERVICE/HOST@REALM")
        << principal;
  }
}

TEST(JaasLogin, ANameWithAControlCharacterIsRefused) {
  EXPECT_FALSE(login_of(file_of(std::string(kKerberos) + "keyTab=\"/etc/a\\0b\";")[0]));
  EXPECT_FALSE(login_of(file_of(std::string(kKerberos) + "principal=\"zk/h\\n@R\";")[0]));
}

std::string error_of_client(const std::string& entries) {
  const auto result = client_login_of(file_of(entries)[0]);
  EXPECT_FALSE(result) << entries;
  return result ? "" : result.error().message;
}

TEST(JaasLogin, WhoLogsInHasAPasswordOrAKey) {
  EXPECT_TRUE(client_login_of(file_of(std::string(kDigest) + "username=\"a\" password=\"b\";")[0]));
  EXPECT_TRUE(client_login_of(
      file_of(std::string(kKerberos) + "useKeyTab=true keyTab=\"/k\" principal=\"learner/h@R\";")[0]));
  EXPECT_TRUE(client_login_of(file_of(std::string(kKerberos) + "useTicketCache=true;")[0]));
  EXPECT_NE(error_of_client(std::string(kDigest) + "user_a=\"b\";").find("username="), std::string::npos);
  EXPECT_NE(error_of_client(std::string(kDigest) + "username=\"a\";").find("password="), std::string::npos);
  EXPECT_NE(error_of_client(std::string(kKerberos) + "useKeyTab=true principal=\"a@R\";").find("keyTab="),
            std::string::npos);
  EXPECT_NE(error_of_client(std::string(kKerberos) + "useKeyTab=true keyTab=\"/k\";").find("principal="),
            std::string::npos);
  EXPECT_NE(error_of_client(std::string(kKerberos) + "principal=\"a@R\";").find("useTicketCache"),
            std::string::npos);
}

}  // namespace
}  // namespace drover::sasl
