// SPDX-License-Identifier: Apache-2.0
//
// Keys that are not rows of a table: families of names, and names that mean nothing without a JVM.
#include <algorithm>
#include <array>

#include "server/config_keys.h"

namespace drover::server {
namespace {

using namespace std::string_view_literals;

Verdict set_auth_provider(AuthSettings& auth, std::string_view class_name) {
  const std::string_view simple = class_name.substr(class_name.rfind('.') + 1);
  if (simple == "SASLAuthenticationProvider") return Verdict::warned("this version has no SASL");
  if (simple == "EnsembleAuthenticationProvider") {
    auth.ensemble_provider = true;
  } else if (simple != "X509AuthenticationProvider" && simple != "DigestAuthenticationProvider" &&
             simple != "IPAuthenticationProvider") {
    return Verdict::warned("a Java class cannot be loaded, so its scheme is not available");
  }
  return Verdict::accepted();
}

// Sizes of thread pools, caches and buffers that do not exist here; class names; logging frameworks; what
// only a client reads; and two switches that have no other position here: stores are always read again when
// they change, and which algorithms are allowed is OpenSSL's configuration.
constexpr std::array kJvmKeys{"serverCnxnFactory"sv,
                              "nio.numSelectorThreads"sv,
                              "nio.numWorkerThreads"sv,
                              "nio.directBufferBytes"sv,
                              "nio.shutdownTimeout"sv,
                              "maxResponseCacheSize"sv,
                              "maxGetChildrenResponseCacheSize"sv,
                              "watchManagerName"sv,
                              "watcherCleanThreshold"sv,
                              "watcherCleanIntervalInSeconds"sv,
                              "watcherCleanThreadsNum"sv,
                              "maxInProcessingDeadWatchers"sv,
                              "bitHashCacheSize"sv,
                              "intBufferStartingSizeBytes"sv,
                              "request_throttler.shutdownTimeout"sv,
                              "maxWriteQueuePollTime"sv,
                              "quorum.cnxn.threads.size"sv,
                              "leader.ackLoggingFrequency"sv,
                              "leader.closeSocketAsync"sv,
                              "learner.closeSocketAsync"sv,
                              "learner.asyncSending"sv,
                              "leaderConnectDelayDuringRetryMs"sv,
                              "audit.impl.class"sv,
                              "root.logger"sv,
                              "console.threshold"sv,
                              "tracelog.dir"sv,
                              "tracelog.file"sv,
                              "kinit"sv,
                              "client.secure"sv,
                              "clientCnxnSocket"sv,
                              "request.timeout"sv,
                              "disableAutoWatchReset"sv,
                              "server.principal"sv,
                              "server.realm"sv,
                              "ssl.context.supplier.class"sv,
                              "ssl.quorum.context.supplier.class"sv,
                              "ssl.authProvider"sv,
                              "ssl.sslProvider"sv,
                              "client.certReload"sv,
                              "admin.httpVersion"sv,
                              "metricsProvider.exportJvmInfo"sv,
                              "metricsProvider.numWorkerThreads"sv,
                              "metricsProvider.maxQueueSize"sv,
                              "metricsProvider.workerShutdownTimeoutMs"sv,
                              "fips-mode"sv};
constexpr std::array kJvmFamilies{"netty."sv,          "commitProcessor."sv, "jvm.pause."sv, "jmx."sv,
                                  "messageTracker."sv, "pathStats."sv,       "sasl.client"sv};

constexpr std::array kUnsupportedKeys{"audit.enable"sv,
                                      "flushDelay"sv,
                                      "maxBatchSize"sv,
                                      "enableEagerACLCheck"sv,
                                      "largeRequestThreshold"sv,
                                      "largeRequestMaxBytes"sv,
                                      "throttled_op_wait_time"sv,
                                      "request_throttle_max_requests"sv,
                                      "request_throttle_stall_time"sv,
                                      "request_throttle_drop_stale"sv,
                                      "request_stale_latency_check"sv,
                                      "request_stale_connection_check"sv,
                                      "IPAuthenticationProvider.usexforwardedfor"sv,
                                      "SASLAuthenticationProvider.superPassword"sv,
                                      "allowSaslFailedClients"sv,
                                      "sasl.serverconfig"sv,
                                      "letAnySaslUserDoX"sv,
                                      "superUser"sv,
                                      "java.security.auth.login.config"sv,
                                      "requireKerberosConfig"sv,
                                      "security.auth_to_local"sv,
                                      "observerMaster.sizeLimit"sv,
                                      "follower.skipLearnerRequestToNextProcessor"sv,
                                      "forward_learner_requests_to_commit_processor_disabled"sv,
                                      "controllerPort"sv,
                                      "testingonly.initialZxid"sv,
                                      "ssl.allowReverseDnsLookup"sv,
                                      "ssl.quorum.allowReverseDnsLookup"sv};
constexpr std::array kUnsupportedFamilies{"connection_throttle_"sv, "superUser."sv, "kerberos."sv, "test."sv,
                                          "metricsProvider."sv};

constexpr std::array kJvmPropertyFamilies{"java."sv,    "javax."sv, "jdk."sv,      "sun."sv,
                                          "com.sun."sv, "org."sv,   "log4j"sv,     "logback"sv,
                                          "user."sv,    "file."sv,  "io.netty."sv, "line.separator"sv};

bool is_in(std::string_view key, const auto& names) { return std::ranges::find(names, key) != names.end(); }
bool is_of(std::string_view key, const auto& families) {
  return std::ranges::any_of(families, [key](std::string_view family) { return key.starts_with(family); });
}

}  // namespace

std::optional<Verdict> set_family_key(ServerConfig& config, std::string_view key, std::string_view value) {
  if (key.starts_with("authProvider.")) return set_auth_provider(config.auth, value);
  return std::nullopt;
}

Irrelevance irrelevance_of(std::string_view key) {
  if (is_in(key, kJvmKeys) || is_of(key, kJvmFamilies)) return Irrelevance::kNothingToSay;
  if (is_in(key, kUnsupportedKeys) || is_of(key, kUnsupportedFamilies)) return Irrelevance::kNotSupported;
  return Irrelevance::kRelevant;
}

bool is_jvm_property(std::string_view written_key) { return is_of(written_key, kJvmPropertyFamilies); }

}  // namespace drover::server
