// SPDX-License-Identifier: Apache-2.0
//
// Every key of ZooKeeper works, makes the start fail with a reason, or causes a warning at the start: none is
// ignored silently. docs/configuration.md says which.
#include "config/foreign_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "config/config_testing.h"
#include "config/keys.h"
#include "config/values.h"

namespace drover::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The keys of the administrator's guides of 3.8 and 3.9, and the system properties that their code reads.
constexpr const char* kKeysOfZooKeeper =
    "4lw.commands.whitelist DigestAuthenticationProvider.digestAlg DigestAuthenticationProvider.enabled "
    "DigestAuthenticationProvider.superDigest IPAuthenticationProvider.usexforwardedfor "
    "X509AuthenticationProvider.superUser admin.commandURL admin.enableServer admin.forceHttps "
    "admin.httpVersion "
    "admin.idleTimeout admin.needClientAuth admin.portUnification admin.rateLimiterIntervalInMS "
    "admin.restore.enabled admin.serverAddress admin.serverPort admin.snapshot.enabled "
    "allowSaslFailedClients "
    "audit.enable audit.impl.class authProvider.1 autopurge.purgeInterval autopurge.snapRetainCount "
    "bitHashCacheSize client.certReload client.portUnification client.secure clientCnxnSocket clientPort "
    "clientPortAddress clientPortListenBacklog clientTcpKeepAlive closeSessionTxn.enabled cnxTimeout "
    "commitLogCount commitProcessor.maxCommitBatchSize commitProcessor.maxReadBatchSize "
    "commitProcessor.numWorkerThreads commitProcessor.shutdownTimeout connectToLearnerMasterLimit "
    "connection_throttle_decrease_ratio connection_throttle_drop_decrease connection_throttle_drop_increase "
    "connection_throttle_fill_count connection_throttle_fill_time connection_throttle_freeze_time "
    "connection_throttle_global_session_weight connection_throttle_local_session_weight "
    "connection_throttle_renew_session_weight connection_throttle_tokens connection_throttle_weight_enabled "
    "controllerPort dataDir dataLogDir datadir.autocreate db.autocreate digest.enabled disableAutoWatchReset "
    "dynamicConfigFile electionAlg electionPortBindRetry emulate353TTLNodes enableEagerACLCheck "
    "enforce.auth.enabled enforce.auth.schemes enforceQuota ensembleAuthName extendedTypesEnabled "
    "fastleader.maxNotificationInterval fastleader.minNotificationInterval fips-mode flushDelay "
    "follower.nodelay follower.skipLearnerRequestToNextProcessor forceSnapshotSync forceSync "
    "forward_learner_requests_to_commit_processor_disabled fsync.warningthresholdms globalOutstandingLimit "
    "group.1 hostProvider.dnsSrvRefreshIntervalSeconds initLimit intBufferStartingSizeBytes "
    "java.security.auth.login.config jmx.log4j.disable jmx.log4j.mbean jute.maxbuffer "
    "jute.maxbuffer.extrasize "
    "jvm.pause.info-threshold.ms jvm.pause.monitor jvm.pause.sleep.time.ms jvm.pause.warn-threshold.ms "
    "kerberos.canonicalizeHostNames kerberos.minReLoginTimeMs kerberos.removeHostFromPrincipal "
    "kerberos.removeRealmFromPrincipal kinit largeRequestMaxBytes largeRequestThreshold "
    "leader.ackLoggingFrequency leader.closeSocketAsync leader.maxConcurrentDiffSyncs "
    "leader.maxConcurrentSnapSyncs leader.maxTimeToWaitForEpoch leader.nodelay "
    "leaderConnectDelayDuringRetryMs "
    "leaderServes learner.asyncSending learner.closeSocketAsync letAnySaslUserDoX localSessionsEnabled "
    "localSessionsUpgradingEnabled maxBatchSize maxClientCnxns maxCnxns maxGetChildrenResponseCacheSize "
    "maxInProcessingDeadWatchers maxResponseCacheSize maxSessionTimeout maxWriteQueuePollTime "
    "messageTracker.BufferSize messageTracker.Enabled metricsProvider.className "
    "metricsProvider.exportJvmInfo "
    "metricsProvider.httpHost metricsProvider.httpPort metricsProvider.httpsPort "
    "metricsProvider.maxQueueSize "
    "metricsProvider.numWorkerThreads metricsProvider.ssl.keyStore.location "
    "metricsProvider.ssl.need.client.auth "
    "metricsProvider.workerShutdownTimeoutMs minSessionTimeout multiAddress.enabled "
    "multiAddress.reachabilityCheckEnabled multiAddress.reachabilityCheckTimeoutMs "
    "netty.advancedFlowControl.enabled netty.server.earlyDropSecureConnectionHandshakes "
    "netty.server.outstandingHandshake.limit nio.directBufferBytes nio.numSelectorThreads "
    "nio.numWorkerThreads "
    "nio.sessionlessCnxnTimeout nio.shutdownTimeout observer.election.DelayMs observer.reconnectDelayMs "
    "observer.syncEnabled observerMaster.sizeLimit observerMasterPort oraclePath pathStats.delay "
    "pathStats.enabled pathStats.topPathMax peerType portUnification preAllocSize quorum.auth.enableSasl "
    "quorum.auth.kerberos.servicePrincipal quorum.auth.learner.saslLoginContext "
    "quorum.auth.learnerRequireSasl quorum.auth.server.saslLoginContext quorum.auth.serverRequireSasl "
    "quorum.cnxn.threads.size quorumCnxnTimeoutMs quorumListenOnAllIPs readonlymode.enabled reconfigEnabled "
    "request.timeout request_stale_connection_check request_stale_latency_check request_throttle_drop_stale "
    "request_throttle_max_requests request_throttle_stall_time request_throttler.shutdownTimeout "
    "requireKerberosConfig sasl.client sasl.client.allowReverseDnsLookup sasl.client.canonicalize.hostname "
    "sasl.client.username sasl.clientconfig sasl.serverconfig SASLAuthenticationProvider.superPassword "
    "secureClientPort secureClientPortAddress security.auth_to_local serializeLastProcessedZxid.enabled "
    "server.1 server.principal server.realm serverCnxnFactory sessionRequireClientSASLAuth "
    "shuffleDnsResponse "
    "skipACL snapCount snapSizeLimitInKb snapshot.compression.method snapshot.trust.empty snapshotSizeFactor "
    "ssl.allowReverseDnsLookup ssl.authProvider ssl.ciphersuites ssl.clientAuth "
    "ssl.clientHostnameVerification "
    "ssl.context.supplier.class ssl.crl ssl.enabledProtocols ssl.handshakeDetectionTimeoutMillis "
    "ssl.hostnameVerification ssl.keyStore.location ssl.keyStore.password ssl.keyStore.passwordPath "
    "ssl.keyStore.type ssl.ocsp ssl.protocol ssl.quorum.allowReverseDnsLookup ssl.quorum.ciphersuites "
    "ssl.quorum.clientAuth ssl.quorum.clientHostnameVerification ssl.quorum.context.supplier.class "
    "ssl.quorum.crl ssl.quorum.enabledProtocols ssl.quorum.handshakeDetectionTimeoutMillis "
    "ssl.quorum.hostnameVerification ssl.quorum.keyStore.location ssl.quorum.keyStore.password "
    "ssl.quorum.keyStore.passwordPath ssl.quorum.keyStore.type ssl.quorum.ocsp ssl.quorum.protocol "
    "ssl.quorum.trustStore.location ssl.quorum.trustStore.password ssl.quorum.trustStore.passwordPath "
    "ssl.quorum.trustStore.type ssl.sslProvider ssl.trustStore.location ssl.trustStore.password "
    "ssl.trustStore.passwordPath ssl.trustStore.type sslQuorum sslQuorumReloadCertFiles standaloneEnabled "
    "superUser superUser.1 syncEnabled syncLimit tcpKeepAlive test.allowDiscontinuousProposals "
    "testingonly.initialZxid throttled_op_wait_time tickTime txnLogSizeLimitInKb watchManagerName "
    "watcherCleanIntervalInSeconds watcherCleanThreadsNum watcherCleanThreshold weight.1 "
    "znode.container.checkIntervalMs znode.container.maxNeverUsedIntervalMs znode.container.maxPerMinute "
    // Headings of the guide.
    "connectionMaxTokens connectionTokenFillTime connectionTokenFillCount connectionFreezeTime "
    "connectionDropIncrease connectionDropDecrease connectionDecreaseRatio "
    "requestThrottleLimit requestThrottleStallTime requestThrottleDropStale "
    "requestStaleLatencyCheck requestStaleConnectionCheck throttledOpWaitTime maxTimeToWaitForEpoch "
    "maxConcurrentSnapSyncs maxConcurrentDiffSyncs advancedFlowControlEnabled outstandingHandshake.limit";

std::vector<std::string> keys_of_zookeeper() {
  std::istringstream words(kKeysOfZooKeeper);
  return {std::istream_iterator<std::string>(words), {}};
}

bool works(const std::string& key) {
  ServerConfig config;
  Draft draft;
  if (key_table(config, draft).contains(key) || set_family_key(config, key, "DigestAuthenticationProvider"))
    return true;
  return key == "server.1" || key == "group.1" || key == "weight.1";
}

TEST(KeysOfZooKeeper, EachWorksOrIsInTheTableAndNeverBoth) {
  const auto keys = keys_of_zookeeper();
  EXPECT_GT(keys.size(), 200u);
  for (const std::string& key : keys) {
    const ForeignKey* foreign = find_foreign_key(key);
    EXPECT_TRUE(works(key) || foreign != nullptr) << key << " is nowhere";
    // A family may have members that work: metricsProvider.httpPort.
    if (works(key) && foreign != nullptr) {
      EXPECT_TRUE(foreign->is_family()) << key << " works, and the table says that it does not";
    }
  }
}

TEST(KeysOfZooKeeper, KeysWithoutEffectAreAlwaysReported) {
  for (const std::string& key : keys_of_zookeeper()) {
    if (works(key)) continue;
    const Loaded loaded = load_lines("", {"-Dzookeeper." + key + "=something"});
    const ForeignKey& row = *find_foreign_key(key);
    const std::string where = "-Dzookeeper." + key + ": ";
    if (row.fate == ForeignKey::Fate::kRefused) {
      EXPECT_EQ(error_of(loaded), where + "not supported: " + std::string(row.reason));
    } else {
      EXPECT_THAT(warnings_of(loaded), ElementsAre(where + "has no effect: " + std::string(row.reason)));
    }
  }
}

TEST(KeysOfZooKeeper, AValueThatMatchesOurBehaviourIsAccepted) {
  for (const ForeignKey& row : foreign_keys()) {
    if (!row.as_it_is || row.is_family()) continue;
    EXPECT_THAT(warnings_of(load_lines(std::string(row.name) + "=" + std::string(*row.as_it_is) + "\n")),
                IsEmpty())
        << row.name;
  }
}

TEST(KeysOfZooKeeper, UnsupportedSecurityKeysPreventTheStart) {
  EXPECT_EQ(error_of(load_lines("ssl.authProvider=mine\n")),
            "zoo.cfg:3: ssl.authProvider: not supported: a Java class cannot be loaded; certificates are "
            "verified with the trust store");
  for (const char* line :
       {"oraclePath=/x", "observerMasterPort=2191", "audit.enable=true\naudit.impl.class=com.example.Mine",
        "ssl.context.supplier.class=com.example.Mine", "ssl.authProvider=mine",
        "metricsProvider.httpsPort=7443", "enforce.auth.enabled=true\nenforce.auth.schemes=sasl,digest",
        "authProvider.3=com.example.Mine"}) {
    EXPECT_FALSE(load_lines(std::string(line) + "\n")) << line;
  }
}

TEST(KeysOfZooKeeper, PropertiesOfTheJvmAboutLoginsAreNotDropped) {
  EXPECT_THAT(
      warnings_of(load_lines("", {"-Dsun.security.krb5.debug=true", "-Djava.net.preferIPv4Stack=true"})),
      ElementsAre(HasSubstr("-Dsun.security.krb5.debug: has no effect")));
  EXPECT_THAT(error_of(load_lines("", {"-Djava.security.krb5.realm=R"})),
              HasSubstr("java.security.krb5.conf"));
}

IoResult<std::string> documentation() {
  return read_config_file(
      (std::filesystem::path(__FILE__).parent_path() / "../../docs/configuration.md").string());
}

// The page is the contract with operators: a key that it does not list does not exist.
TEST(ConfigKeys, EveryKeyIsInTheDocumentation) {
  const auto page = documentation();
  ASSERT_TRUE(page) << "docs/configuration.md is not where the sources are";
  ServerConfig config;
  Draft draft;
  for (const auto& [name, key] : key_table(config, draft)) {
    constexpr std::string_view kQuorum = "ssl.quorum.";
    const std::string documented = name.starts_with(kQuorum) ? "ssl." + name.substr(kQuorum.size()) : name;
    EXPECT_THAT(*page, HasSubstr("`" + documented + "`"));
  }
}

// The page's rows for keys without effect match the table, including the reasons.
TEST(ConfigKeys, TheDocumentationDescribesEveryForeignKey) {
  const auto page = documentation();
  ASSERT_TRUE(page) << "docs/configuration.md is not where the sources are";
  std::string section;
  for (const std::string& line : split_list(*page, '\n')) {
    if (line.starts_with("##")) section = line;
    if (!line.starts_with("| `") || !section.starts_with("### Keys that")) continue;
    const auto fate =
        section == "### Keys that prevent the start" ? ForeignKey::Fate::kRefused : ForeignKey::Fate::kNamed;
    for (const std::string& key : split_list(line.substr(0, line.find('|', 1)), '`')) {
      const ForeignKey* row = find_foreign_key(key);
      if (row == nullptr || row->name != key) continue;
      EXPECT_EQ(row->fate, fate) << key;
      EXPECT_THAT(line, HasSubstr(std::string(row->reason)));
    }
  }
  for (const ForeignKey& row : foreign_keys())
    EXPECT_THAT(*page, HasSubstr("`" + std::string(row.name) + "`"));
}

// Families have a letter in the documentation.
std::string as_documented(const std::string& key) {
  if (key == "group.1") return "group.G";
  return key.ends_with(".1") ? key.substr(0, key.size() - 1) + "N" : key;
}

std::string kind_of(const std::string& key) {
  if (key == "ssl.ocsp" || key == "ssl.quorum.ocsp") return "is refused at the start";
  if (works(key)) return "works";
  const ForeignKey* row = find_foreign_key(key);
  return row != nullptr && row->fate == ForeignKey::Fate::kRefused ? "is refused at the start"
                                                                   : "has no meaning here";
}

TEST(ConfigKeys, TheTableOfAllKeysOfZooKeeperKnowsThreeKinds) {
  const auto page = documentation();
  ASSERT_TRUE(page) << "docs/configuration.md is not where the sources are";
  std::vector<std::string> written;
  bool inside = false;
  for (const std::string& line : split_list(*page, '\n')) {
    if (line.starts_with("## ")) inside = line == "## Every key of ZooKeeper";
    if (inside && line.starts_with("| `")) written.push_back(line);
  }
  std::vector<std::string> expected;
  for (const std::string& key : keys_of_zookeeper())
    expected.push_back("| `" + as_documented(key) + "` | " + kind_of(key) + " |");
  EXPECT_THAT(written, ::testing::UnorderedElementsAreArray(expected));
}

// The words in backquotes in a line, without families (`nio.*`, `server.N`).
std::vector<std::string> quoted_keys(std::string_view line) {
  std::vector<std::string> parts = split_list(line, '`');
  std::vector<std::string> keys;
  for (std::size_t i = 1; i < parts.size(); i += 2) {
    const bool family = parts[i].ends_with('*') || parts[i].ends_with(".N") || parts[i].ends_with(".G");
    if (!family) keys.push_back(std::move(parts[i]));
  }
  return keys;
}

TEST(ConfigKeys, TheDocumentationNamesOnlyKeysThatAreRead) {
  const auto page = documentation();
  ASSERT_TRUE(page) << "docs/configuration.md is not where the sources are";
  ServerConfig config;
  Draft draft;
  const KeyTable table = key_table(config, draft);
  int seen = 0;
  for (const std::string& line : split_list(*page, '\n')) {
    if (!line.starts_with("| `")) continue;
    for (const std::string& key : quoted_keys(line.substr(0, line.find('|', 1)))) {
      EXPECT_TRUE(table.contains(key) || find_foreign_key(key) != nullptr) << key;
      ++seen;
    }
  }
  EXPECT_GT(seen, 100) << "the tables were not found";
}

}  // namespace
}  // namespace drover::server
