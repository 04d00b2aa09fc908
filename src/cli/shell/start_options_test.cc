// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/start_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/common/properties.h"

namespace drover::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(StartOptions, EndAtTheCommand) {
  const auto options =
      parse_start_options({"-server", "h:1/app", "-timeout", "500", "-r", "ls", "-server", "x"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->connection.servers, "h:1/app");
  EXPECT_EQ(options->connection.timeout, std::chrono::milliseconds(500));
  EXPECT_TRUE(options->connection.read_only);
  EXPECT_FALSE(options->connection.tls);
  EXPECT_THAT(options->command, ElementsAre("ls", "-server", "x"));
}

TEST(StartOptions, MissingAndUnknownOnesAreReported) {
  EXPECT_EQ(parse_start_options({"-server"}).error(), "Error: no argument found for option -server");
  EXPECT_FALSE(parse_start_options({"-timeout", "soon", "ls"}));
  EXPECT_THAT(parse_start_options({"-what", "ls"})->warnings, SizeIs(1));
}

TEST(StartOptions, JvmPropertiesConfigureTls) {
  const auto options = parse_start_options(
      {"-Dzookeeper.client.secure=true", "-Dzookeeper.ssl.trustStore.location=/t",
       "-Dzookeeper.ssl.keyStore.password=p=q", "-Dzookeeper.ssl.hostnameVerification=false"});
  ASSERT_TRUE(options && options->connection.tls);
  EXPECT_EQ(options->connection.tls->trust_store, "/t");
  EXPECT_EQ(options->connection.tls->key_store_password, "p=q");
  EXPECT_FALSE(options->connection.tls->verify_host_name);
}

TEST(StartOptions, PropertiesAreLines) {
  const Properties properties = parse_properties("# no\n a = b \nc=\n");
  EXPECT_EQ(properties, (Properties{{"a", "b"}, {"c", ""}}));
}

}  // namespace
}  // namespace drover::cli
