// SPDX-License-Identifier: Apache-2.0
#include "config/foreign_keys.h"

#include <algorithm>
#include <iterator>

#include "config/values.h"

namespace drover::server {
namespace {

using Fate = ForeignKey::Fate;

// A key comes before its family.
constexpr ForeignKey kForeignKeys[] = {
    // Between servers.
    {"oraclePath", Fate::kRefused, "", "there is no oracle; an ensemble of two needs both servers"},
    {"observerMasterPort", Fate::kRefused, "0", "observers always follow the leader, not a follower"},
    {"observerMaster.*", Fate::kNamed, std::nullopt, "followers serve no observers"},
    // Security of clients.
    {"ssl.context.supplier.class", Fate::kRefused, "",
     "a Java class cannot be loaded; use ssl.keyStore.* and ssl.trustStore.*"},
    {"ssl.quorum.context.supplier.class", Fate::kRefused, "",
     "a Java class cannot be loaded; use ssl.quorum.keyStore.* and ssl.quorum.trustStore.*"},
    {"ssl.authProvider", Fate::kRefused, "x509",
     "a Java class cannot be loaded; certificates are verified with the trust store"},
    {"metricsProvider.httpsPort", Fate::kRefused, "-1",
     "metrics have no TLS port of their own; use admin.forceHttps and /metrics of the admin port"},
    {"metricsProvider.ssl.*", Fate::kRefused, std::nullopt,
     "metrics have no TLS port of their own; use admin.forceHttps and /metrics of the admin port"},
    {"java.security.krb5.realm", Fate::kRefused, "",
     "write it into a krb5.conf, and name that in java.security.krb5.conf"},
    {"java.security.krb5.kdc", Fate::kRefused, "",
     "write it into a krb5.conf, and name that in java.security.krb5.conf"},
    {"sun.security.krb5.*", Fate::kNamed, std::nullopt,
     "a part of the JVM; KRB5_TRACE=/dev/stderr traces Kerberos"},
    {"kerberos.minReLoginTimeMs", Fate::kNamed, std::nullopt, "the key table is read at each login"},
    {"kerberos.canonicalizeHostNames", Fate::kNamed, std::nullopt, "of clients"},
    {"requireKerberosConfig", Fate::kNamed, std::nullopt, "a login without krb5.conf fails and is logged"},
    {"jaasLoginRenew", Fate::kNamed, std::nullopt, "neither here nor in ZooKeeper"},
    {"kinit", Fate::kNamed, std::nullopt, "the server logs in with a key table"},
    {"server.principal", Fate::kNamed, std::nullopt, "of clients"},
    {"server.realm", Fate::kNamed, std::nullopt, "of clients"},
    {"requireClientAuthScheme", Fate::kNamed, std::nullopt,
     "neither here nor in ZooKeeper; see enforce.auth.schemes"},
    {"ssl.allowReverseDnsLookup", Fate::kNamed, "false",
     "addresses are never looked up in the DNS to verify a certificate"},
    {"ssl.quorum.allowReverseDnsLookup", Fate::kNamed, "false",
     "addresses are never looked up in the DNS to verify a certificate"},
    {"ssl.sslProvider", Fate::kNamed, std::nullopt, "TLS is OpenSSL's"},
    {"client.certReload", Fate::kNamed, "true", "changed stores are always read again"},
    {"fips-mode", Fate::kNamed, "false", "the configuration of OpenSSL decides about FIPS"},
    // Limits.
    {"request_throttle_stall_time", Fate::kNamed, std::nullopt,
     "waiting requests go on as soon as others are answered"},
    {"request_throttler.shutdownTimeout", Fate::kNamed, std::nullopt,
     "a stopping server waits 5 seconds for requests in progress"},
    {"netty.*", Fate::kNamed, std::nullopt,
     "a part of the JVM; see ssl.handshakeDetectionTimeoutMillis and maxCnxns"},
    // Ensemble.
    {"syncEnabled", Fate::kNamed, "true", "observers always write log and snapshots"},
    {"observer.syncEnabled", Fate::kNamed, "true", "observers always write log and snapshots"},
    {"observer.reconnectDelayMs", Fate::kNamed, std::nullopt, "observers connect again at once"},
    {"observer.election.DelayMs", Fate::kNamed, std::nullopt, "observers ask for the leader at once"},
    {"multiAddress.reachabilityCheckEnabled", Fate::kNamed, std::nullopt,
     "all addresses of a server are tried"},
    {"multiAddress.reachabilityCheckTimeoutMs", Fate::kNamed, std::nullopt,
     "all addresses of a server are tried"},
    {"leader.nodelay", Fate::kNamed, "true", "always on"},
    {"follower.nodelay", Fate::kNamed, "true", "always on"},
    {"tcpKeepAlive", Fate::kNamed, "true", "always on between servers"},
    {"leader.ackLoggingFrequency", Fate::kNamed, std::nullopt, "a part of the JVM"},
    {"leader.closeSocketAsync", Fate::kNamed, std::nullopt, "sockets never block"},
    {"learner.closeSocketAsync", Fate::kNamed, std::nullopt, "sockets never block"},
    {"learner.asyncSending", Fate::kNamed, std::nullopt, "sockets never block"},
    {"leaderConnectDelayDuringRetryMs", Fate::kNamed, std::nullopt, "a learner connects again at once"},
    {"follower.skipLearnerRequestToNextProcessor", Fate::kNamed, std::nullopt,
     "there are no request processors"},
    {"forward_learner_requests_to_commit_processor_disabled", Fate::kNamed, std::nullopt,
     "there are no request processors"},
    {"quorum.cnxn.threads.size", Fate::kNamed, std::nullopt,
     "a link that authenticates does not occupy a thread"},
    {"controllerPort", Fate::kNamed, std::nullopt, "a test port of ZooKeeper"},
    {"testingonly.*", Fate::kNamed, std::nullopt, "for tests of ZooKeeper"},
    {"test.*", Fate::kNamed, std::nullopt, "for tests of ZooKeeper"},
    // Threads, buffers and caches of the JVM; see ioThreads.
    {"serverCnxnFactory", Fate::kNamed, std::nullopt, "there is one kind of connections"},
    {"nio.numSelectorThreads", Fate::kNamed, std::nullopt, "a part of the JVM; see ioThreads"},
    {"nio.numWorkerThreads", Fate::kNamed, std::nullopt, "a part of the JVM; see ioThreads"},
    {"nio.directBufferBytes", Fate::kNamed, std::nullopt, "a part of the JVM"},
    {"nio.shutdownTimeout", Fate::kNamed, std::nullopt, "a part of the JVM"},
    {"commitProcessor.*", Fate::kNamed, std::nullopt, "a part of the JVM; see ioThreads"},
    {"flushDelay", Fate::kNamed, std::nullopt,
     "each sync covers all writes that arrived during the previous one"},
    {"maxBatchSize", Fate::kNamed, std::nullopt,
     "each sync covers all writes that arrived during the previous one"},
    {"maxWriteQueuePollTime", Fate::kNamed, std::nullopt,
     "each sync covers all writes that arrived during the previous one"},
    {"maxResponseCacheSize", Fate::kNamed, std::nullopt, "there is no cache of responses"},
    {"maxGetChildrenResponseCacheSize", Fate::kNamed, std::nullopt, "there is no cache of responses"},
    {"watchManagerName", Fate::kNamed, std::nullopt, "there is one kind of watch table"},
    {"watcherCleanThreshold", Fate::kNamed, std::nullopt, "watches are removed at once"},
    {"watcherCleanIntervalInSeconds", Fate::kNamed, std::nullopt, "watches are removed at once"},
    {"watcherCleanThreadsNum", Fate::kNamed, std::nullopt, "watches are removed at once"},
    {"maxInProcessingDeadWatchers", Fate::kNamed, std::nullopt, "watches are removed at once"},
    {"bitHashCacheSize", Fate::kNamed, std::nullopt, "there is one kind of watch table"},
    {"intBufferStartingSizeBytes", Fate::kNamed, std::nullopt, "a part of the JVM"},
    {"jvm.pause.*", Fate::kNamed, std::nullopt, "there are no pauses of a JVM"},
    {"jmx.*", Fate::kNamed, std::nullopt, "there is no JMX"},
    {"messageTracker.*", Fate::kNamed, std::nullopt, "a part of the JVM"},
    {"pathStats.*", Fate::kNamed, std::nullopt, "there are no statistics by path; see drover top"},
    {"metricsProvider.*", Fate::kNamed, std::nullopt, "metrics are those of /metrics"},
    {"admin.httpVersion", Fate::kNamed, std::nullopt, "HTTP 1.1 is used"},
    {"root.logger", Fate::kNamed, std::nullopt, "see log.threshold"},
    {"console.threshold", Fate::kNamed, std::nullopt, "see log.threshold"},
    {"tracelog.dir", Fate::kNamed, std::nullopt, "see log.dir"},
    {"tracelog.file", Fate::kNamed, std::nullopt, "see log.file"},
    // Headings of the administrator's guide. Java reads none of them.
    {"connectionMaxTokens", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see connection_throttle_tokens and its "
     "siblings"},
    {"connectionTokenFillTime", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see connection_throttle_tokens and its "
     "siblings"},
    {"connectionTokenFillCount", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see connection_throttle_tokens and its "
     "siblings"},
    {"connectionFreezeTime", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see connection_throttle_tokens and its "
     "siblings"},
    {"connectionDropIncrease", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see connection_throttle_tokens and its "
     "siblings"},
    {"connectionDropDecrease", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see connection_throttle_tokens and its "
     "siblings"},
    {"connectionDecreaseRatio", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see connection_throttle_tokens and its "
     "siblings"},
    {"requestThrottleLimit", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see request_throttle_max_requests and its "
     "siblings"},
    {"requestThrottleStallTime", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see request_throttle_max_requests and its "
     "siblings"},
    {"requestThrottleDropStale", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see request_throttle_max_requests and its "
     "siblings"},
    {"requestStaleLatencyCheck", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see request_throttle_max_requests and its "
     "siblings"},
    {"requestStaleConnectionCheck", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see request_throttle_max_requests and its "
     "siblings"},
    {"throttledOpWaitTime", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see throttled_op_wait_time"},
    {"maxTimeToWaitForEpoch", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see leader.maxTimeToWaitForEpoch"},
    {"maxConcurrentSnapSyncs", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see leader.maxConcurrentSnapSyncs and "
     "leader.maxConcurrentDiffSyncs"},
    {"maxConcurrentDiffSyncs", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see leader.maxConcurrentSnapSyncs and "
     "leader.maxConcurrentDiffSyncs"},
    {"advancedFlowControlEnabled", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see netty.*"},
    {"outstandingHandshake.limit", Fate::kNamed, std::nullopt,
     "a heading of ZooKeeper's guide, and no key there either; see netty.*"},
    // Clients.
    {"client.secure", Fate::kNamed, std::nullopt, "of clients"},
    {"clientCnxnSocket", Fate::kNamed, std::nullopt, "of clients"},
    {"request.timeout", Fate::kNamed, std::nullopt, "of clients"},
    {"disableAutoWatchReset", Fate::kNamed, std::nullopt, "of clients"},
    {"sasl.client*", Fate::kNamed, std::nullopt, "of clients"},
    {"shuffleDnsResponse", Fate::kNamed, std::nullopt, "of clients"},
    {"hostProvider.*", Fate::kNamed, std::nullopt, "of clients"},
};

bool is_meant_by(const ForeignKey& row, std::string_view key) {
  if (!row.is_family()) return row.name == key;
  return key.starts_with(row.name.substr(0, row.name.size() - 1));
}

}  // namespace

std::span<const ForeignKey> foreign_keys() { return kForeignKeys; }

const ForeignKey* find_foreign_key(std::string_view key) {
  const auto found =
      std::ranges::find_if(kForeignKeys, [key](const ForeignKey& row) { return is_meant_by(row, key); });
  return found == std::end(kForeignKeys) ? nullptr : found;
}

bool asks_for_nothing(const ForeignKey& row, std::string_view value) {
  return row.as_it_is && equal_ignoring_case(value, *row.as_it_is);
}

}  // namespace drover::server
