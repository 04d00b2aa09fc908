// SPDX-License-Identifier: Apache-2.0
#include "login/logins.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "client/sasl_login.h"
#include "drover/sasl.h"

namespace drover {
namespace {

using Status = SaslStep::Status;

// A JAAS file, deleted with the object.
class File {
 public:
  explicit File(const std::string& text) {
    const int fd = ::mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    ::close(fd);
    std::ofstream(path_) << text;
  }
  ~File() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/drover-jaas-XXXXXX";
};

const std::string kDigest =
    "Client {\n  org.apache.zookeeper.server.auth.DigestLoginModule required\n"
    "  username=\"bob\"\n  password=\"bobsecret\";\n};\n";
std::string kerberos_section(const std::string& options) {
  return "Other {\n  com.sun.security.auth.module.Krb5LoginModule required " + options + ";\n};\n";
}

std::string error_of(const Result<SaslLoginPtr>& result) {
  if (result) return {};
  EXPECT_EQ(result.error().code, Errc::kBadConfig);
  return result.error().detail;
}
std::string error_of(const std::string& text, const std::string& section = "Client") {
  const File file(text);
  std::string error = error_of(sasl_jaas({.file = file.path(), .section = section}));
  // Without the path, which differs.
  return error.starts_with(file.path()) ? error.substr(file.path().size()) : error;
}

TEST(Logins, APasswordBeginsWithAnEmptyToken) {
  const auto login = sasl_password("bob", "bobsecret");
  ASSERT_TRUE(login) << login.error().detail;
  const SaslStep first = (*login)->start({.host = "zk1", .ip = "127.0.0.1"})->step({});
  EXPECT_EQ(first.status, Status::kContinue);
  EXPECT_EQ(first.token, "");
}

TEST(Logins, NeedAUserAndAPassword) {
  EXPECT_EQ(error_of(sasl_password("", "x")), "a login needs a user");
  EXPECT_EQ(error_of(sasl_password("bob", "")), "the login of user bob has no password");
}

TEST(Logins, TheBufferOfAPasswordIsTakenOver) {
  std::string password(100, 'x');
  const char* const bytes = password.data();
  const std::string_view before(bytes, 100);
  const auto login = sasl_password("bob", std::move(password));
  ASSERT_TRUE(login);
  EXPECT_EQ(before.substr(0, 3), "xxx") << "not copied, but wiped by the login";
}

TEST(Logins, AJaasFileSaysHow) {
  const File file(kDigest);
  for (const std::string& name : {file.path(), "=" + file.path(), "file:" + file.path()}) {
    const auto login = sasl_jaas({.file = name});
    ASSERT_TRUE(login) << login.error().detail;
    EXPECT_EQ((*login)->start({})->step({}).status, Status::kContinue);
  }
}

TEST(Logins, ASectionThatIsMissingIsAnErrorOnlyIfItIsRequired) {
  const File file(kDigest);
  const auto none = sasl_jaas({.file = file.path(), .section = "Other", .section_required = false});
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
  EXPECT_EQ(error_of(kDigest, "Other"), ": there is no section Other");
}

TEST(Logins, ErrorsNameFileAndLineButNoPassword) {
  EXPECT_EQ(error_of("Client {\n  com.example.Own required password=\"bobsecret\";\n};\n").substr(0, 41),
            ":2: login module com.example.Own is a Jav");
  EXPECT_EQ(error_of(kDigest + "Client"), ":6: expected {, found the end of the file");
  EXPECT_EQ(error_of("\nClient {\n org.apache.zookeeper.server.auth.DigestLoginModule required;\n};\n"),
            ":2: expected username=\"NAME\" and password=\"PASSWORD\"");
  EXPECT_EQ(error_of("\nClient {\n org.apache.zookeeper.server.auth.DigestLoginModule required "
                     "username=\"bob\";\n};\n"),
            ":2: the login of user bob has no password");
  EXPECT_EQ(error_of(sasl_jaas({.file = "/nowhere/jaas.conf"})),
            "/nowhere/jaas.conf: No such file or directory");
}

TEST(Logins, AKeytabThatIsNotThereIsFoundAtOnce) {
  EXPECT_EQ(
      error_of(kerberos_section("useKeyTab=true keyTab=\"/nowhere/keytab\" principal=\"bob@R\""), "Other"),
      ":1: keytab /nowhere/keytab: No such file or directory");
  EXPECT_EQ(error_of(kerberos_section("principal=\"bob@R\""), "Other"),
            ":1: a client needs useKeyTab=true or useTicketCache=true: nobody is asked for a password");
}

TEST(Logins, ATicketIsAskedForByTheConversation) {
  ::setenv("KRB5_CONFIG", "/dev/null", 1);
  const auto login = sasl_kerberos({.ticket_cache = "/nowhere/tickets"});
  ASSERT_TRUE(login) << login.error().detail;
  const SaslStep step = (*login)->start({.host = "localhost", .ip = "127.0.0.1"})->step({});
  EXPECT_EQ(step.status, Status::kFailed);
  EXPECT_NE(step.reason, "");
}

TEST(Logins, TheServersPrincipalHasAServiceAndAHost) {
  EXPECT_EQ(login::service_of("zookeeper/zk1@R").protocol, "zookeeper");
  EXPECT_EQ(login::service_of("zookeeper/zk1@R").host, "zk1");
  EXPECT_EQ(login::service_of("a/b").host, "b");
  for (const char* bad : {"zookeeper", "/zk1", "zookeeper/", "zookeeper/@R", "@R", ""}) {
    EXPECT_EQ(login::service_of(bad).host, "") << bad;
  }
  EXPECT_EQ(error_of(sasl_kerberos({}, {.principal = "zookeeper"})),
            "principal of the servers: expected SERVICE/HOST, not \"zookeeper\"");
}

}  // namespace
}  // namespace drover
