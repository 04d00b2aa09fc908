// SPDX-License-Identifier: Apache-2.0
//
// The keys of the HTTP side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config_testing.h"

namespace drover::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ConfigHttp, DefaultsToLoopbackPort8080) {
  const AdminSettings admin = config_of(load_lines("")).admin;
  EXPECT_TRUE(admin.enabled);
  EXPECT_EQ(admin.address, "127.0.0.1");
  EXPECT_EQ(admin.port, std::nullopt);
  EXPECT_EQ(admin.command_url, "/commands");
  EXPECT_EQ(admin.idle_timeout_ms, 30'000);
  EXPECT_FALSE(admin.uses_tls());
}

TEST(ConfigHttp, AcceptsJavasKeysAndProperties) {
  const Loaded loaded = load_lines(
      "admin.serverPort=9000\nadmin.serverAddress=0.0.0.0\nadmin.commandURL=/zk\nadmin.idleTimeout=10\n",
      {"-Dzookeeper.admin.serverPort=9001", "-Dzookeeper.admin.restore.enabled=false"});
  const AdminSettings admin = config_of(loaded).admin;
  EXPECT_EQ(admin.port, 9001);
  EXPECT_EQ(admin.address, "0.0.0.0");
  EXPECT_EQ(admin.command_url, "/zk");
  EXPECT_EQ(admin.idle_timeout_ms, 10);
  EXPECT_FALSE(admin.restore_enabled);
  EXPECT_THAT(warnings_of(loaded), IsEmpty());
}

TEST(ConfigHttp, IsSwitchedOffOnlyByFalse) {
  EXPECT_FALSE(config_of(load_lines("admin.enableServer=false\n")).admin.enabled);
  EXPECT_FALSE(config_of(load_lines("", {"-Dzookeeper.admin.enableServer=false"})).admin.enabled);
  EXPECT_TRUE(config_of(load_lines("admin.enableServer=true\n")).admin.enabled);
}

TEST(ConfigHttp, RefusesAnUnreachablePath) {
  for (const std::string wrong : {"", "commands", "/", "/a/", "/a b", "/a?b", "/*"})
    EXPECT_THAT(error_of(load_lines("admin.commandURL=" + wrong + "\n")), HasSubstr("expected a path"));
}

TEST(ConfigHttp, HttpsNeedsTheServersOwnStores) {
  EXPECT_THAT(error_of(load_lines("admin.forceHttps=true\n")),
              HasSubstr("admin.forceHttps needs ssl.quorum.keyStore.location"));
  EXPECT_THAT(error_of(load_lines("admin.portUnification=true\nadmin.needClientAuth=true\n"
                                  "ssl.quorum.keyStore.location=/k.pem\n")),
              HasSubstr("admin.needClientAuth needs ssl.quorum.trustStore.location"));
  EXPECT_TRUE(config_of(load_lines("admin.forceHttps=true\nssl.quorum.keyStore.location=/k.pem\n"))
                  .admin.force_https);
}

TEST(ConfigDashboard, IsReadOnlyAndHasNoExtraHostNamesByDefault) {
  EXPECT_FALSE(config_of(load_lines("")).admin.dashboard_edit);
  const AdminSettings admin =
      config_of(load_lines("admin.dashboard.edit=true\nadmin.dashboard.hosts=ZK.example.net, proxy,\n"))
          .admin;
  EXPECT_TRUE(admin.dashboard_edit);
  EXPECT_THAT(admin.dashboard_hosts, ElementsAre("zk.example.net", "proxy"));
}

TEST(ConfigMetrics, HasAPortOfItsOwnWithJavasProvider) {
  const Loaded loaded = load_lines(
      "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider\n"
      "metricsProvider.httpPort=7070\n");
  EXPECT_TRUE(config_of(loaded).metrics.prometheus);
  EXPECT_EQ(config_of(loaded).metrics.port, 7070);
  EXPECT_EQ(config_of(loaded).metrics.host, "");
  EXPECT_THAT(warnings_of(loaded), IsEmpty());
  EXPECT_FALSE(config_of(load_lines("")).metrics.prometheus);
}

TEST(ConfigMetrics, AnUnknownProviderIsReported) {
  EXPECT_THAT(warnings_of(load_lines("metricsProvider.className=com.example.Mine\n")),
              ElementsAre(HasSubstr("unknown metrics provider")));
  EXPECT_THAT(warnings_of(load_lines("metricsProvider.exportJvmInfo=true\n")),
              ElementsAre(HasSubstr("has no effect")));
}

TEST(ConfigText, ShowsTheFileWithoutItsSecrets) {
  const std::string text =
      config_of(load_lines("DigestAuthenticationProvider.superDigest=super:hunter2\n# a comment\n"
                           "ssl.keyStore.password=hunter2\nSASLAuthenticationProvider.superPassword=hunter2\n"
                           "tickTime=100\n"))
          .file_text;
  EXPECT_EQ(text,
            "dataDir=/data\nclientPort=2181\nDigestAuthenticationProvider.superDigest=***\n"
            "ssl.keyStore.password=***\nSASLAuthenticationProvider.superPassword=***\ntickTime=100\n");
}

}  // namespace
}  // namespace drover::server
