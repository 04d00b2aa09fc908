// SPDX-License-Identifier: Apache-2.0
#include "cli/common/login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "cli/common/options.h"
#include "cli/shell/start_options.h"

namespace drover::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class File {
 public:
  explicit File(const std::string& text, mode_t mode = 0600) {
    const int fd = ::mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    ::fchmod(fd, mode);
    ::close(fd);
    std::ofstream(path_) << text;
  }
  ~File() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/drover-login-XXXXXX";
};

std::string error_of(const Properties& flags, const Properties& properties = {}) {
  const auto made = make_login(flags, properties);
  return made ? "" : made.error();
}

const std::string kJaas =
    "Client { org.apache.zookeeper.server.auth.DigestLoginModule required username=bob password=x; };";

TEST(Login, NoneIsAskedFor) {
  const auto made = make_login({}, {});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->login, nullptr);
}

TEST(Login, ThePasswordIsTheFirstLineOfAFile) {
  const File file("secret\nmore\n");
  const auto made = make_login({{"--sasl-user", "bob"}, {"--sasl-password-file", file.path()}}, {});
  ASSERT_TRUE(made) << made.error();
  EXPECT_NE(made->login, nullptr);
  EXPECT_THAT(made->warnings, IsEmpty());
}

TEST(Login, AFileThatEverybodyCanReadIsWarnedOf) {
  const File file("secret", 0644);
  const auto made = make_login({{"--sasl-user", "bob"}, {"--sasl-password-file", file.path()}}, {});
  ASSERT_TRUE(made);
  EXPECT_THAT(made->warnings,
              ElementsAre(file.path() + ": every user of the machine can read it, and it has a password"));
}

TEST(Login, BadFilesOfPasswordsAreErrors) {
  const File empty("\nsecret");
  const File endless(std::string(5000, 'x'));
  EXPECT_EQ(error_of({{"--sasl-user", "bob"}, {"--sasl-password-file", "/nowhere"}}),
            "/nowhere: No such file or directory");
  EXPECT_THAT(error_of({{"--sasl-user", "bob"}, {"--sasl-password-file", empty.path()}}),
              HasSubstr("no password in its first line"));
  EXPECT_THAT(error_of({{"--sasl-user", "bob"}, {"--sasl-password-file", endless.path()}}),
              HasSubstr("too long"));
}

TEST(Login, FlagsThatContradictEachOtherAreErrors) {
  EXPECT_EQ(error_of({{"--sasl-user", "bob"}, {"--kerberos", ""}}),
            "a login is either with --sasl-user or with Kerberos");
  EXPECT_EQ(error_of({{"--sasl-password-file", "f"}}), "--sasl-password-file needs --sasl-user");
  EXPECT_EQ(error_of({{"--keytab", "/nowhere/keytab"}}), "keytab /nowhere/keytab: No such file or directory");
}

TEST(Login, PropertiesOfZooKeepersClientsAreUnderstood) {
  const File file(kJaas);
  const Properties jaas{{"java.security.auth.login.config", file.path()}};
  const auto with = [&](const std::string& key, const std::string& value) {
    Properties all = jaas;
    all[key] = value;
    return make_login({}, all);
  };
  EXPECT_NE(make_login({}, jaas)->login, nullptr);
  EXPECT_EQ(with("zookeeper.sasl.client", "false")->login, nullptr);
  EXPECT_NE(with("zookeeper.sasl.clientconfig", "Client")->login, nullptr);
  EXPECT_THAT(with("zookeeper.sasl.clientconfig", "Mine").error(), HasSubstr("there is no section Mine"));
  EXPECT_THAT(with("zookeeper.server.realm", "R")->warnings, ElementsAre(HasSubstr("[domain_realm]")));
  EXPECT_THAT(error_of({}, {{"zookeeper.sasl.clientconfig", "Client"}}), HasSubstr("needs java.security"));
}

TEST(Login, AFileWithoutTheUsualSectionMeansNoLogin) {
  const File file("Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_a=b; };");
  const auto made = make_login({}, {{"java.security.auth.login.config", file.path()}});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->login, nullptr);
  EXPECT_THAT(made->warnings, ElementsAre(HasSubstr("there is no section Client")));
}

TEST(Login, TheShellAndTheOtherCommandsTakeTheSameFlags) {
  const File password("secret");
  const auto shell = parse_start_options(
      {"--sasl-user", "bob", "--sasl-password-file=" + password.path(), "ls", "--sasl-user", "x"});
  ASSERT_TRUE(shell) << shell.error();
  EXPECT_NE(shell->connection.sasl, nullptr);
  EXPECT_THAT(shell->command, ElementsAre("ls", "--sasl-user", "x"));
  EXPECT_EQ(parse_start_options({"--kerberos", "--sasl-user", "bob"}).error(),
            "Error: a login is either with --sasl-user or with Kerberos");

  const auto known = observe::with_server_options({});
  observe::Arguments flags(known, {"--sasl-user", "bob", "--sasl-password-file", password.path()});
  EXPECT_NE(observe::client_options(flags).sasl, nullptr);
  EXPECT_EQ(flags.problem(), "");
  const File file(kJaas);
  observe::Arguments properties(known, {"-Djava.security.auth.login.config=" + file.path()});
  EXPECT_NE(observe::client_options(properties).sasl, nullptr);
}

}  // namespace
}  // namespace drover::cli
