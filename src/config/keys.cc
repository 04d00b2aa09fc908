// SPDX-License-Identifier: Apache-2.0
//
// One row per key, grouped like ServerConfig. `decimal` and `strict_switch` are for keys of zoo.cfg itself,
// `decoded` and `lenient_switch` for Java's system properties (see values.h).
#include "config/keys.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ranges>

#include "log/log.h"

namespace drover::server {
namespace {

constexpr Range kMilliseconds{.unit = "milliseconds"};
constexpr Range kMillisecondsFromOne{.min = 1, .unit = "milliseconds"};
constexpr Range kMillisecondsOrUnset{.min = -1, .unit = "milliseconds"};
constexpr Range kTicks{.unit = "ticks"};
constexpr Range kAnyInt{.min = kInt32Min};
constexpr Range kKilobytes{.min = 0, .max = std::int64_t{1} << 40, .unit = "kilobytes"};
constexpr Range kKilobytesOrOff{.min = -1, .max = std::int64_t{1} << 40, .unit = "kilobytes"};

class TableBuilder {
 public:
  explicit TableBuilder(KeyTable& table) : table_(table) {}
  TableBuilder& key(std::string name, Setter set) { return put(std::move(name), {.set = std::move(set)}); }
  TableBuilder& secret(std::string name, Setter set) {
    return put(std::move(name), {.set = std::move(set), .secret = true});
  }

 private:
  TableBuilder& put(std::string name, Key key) {
    table_.insert_or_assign(std::move(name), std::move(key));
    return *this;
  }
  KeyTable& table_;
};

void add_server_keys(KeyTable& table, ServerConfig& c, Draft& d) {
  TableBuilder(table)
      .key("dataDir", non_empty_text(d.data_dir))
      .key("dataLogDir", non_empty_text(d.data_log_dir))
      .key("clientPort", decimal(d.client_port, kPortRange))
      .key("clientPortAddress", non_empty_text(d.client_address))
      .key("secureClientPort", decimal(d.secure_client_port, kPortRange))
      .key("secureClientPortAddress", non_empty_text(d.secure_client_address))
      .key("client.portUnification", lenient_switch(c.client_port_unification))
      .key("clientPortListenBacklog", decimal(c.listen_backlog, kAnyInt))
      .key("tickTime", decimal(c.tick_time_ms, kMillisecondsFromOne))
      .key("minSessionTimeout", decimal(d.min_session_timeout_ms, kMillisecondsOrUnset))
      .key("maxSessionTimeout", decimal(d.max_session_timeout_ms, kMillisecondsOrUnset))
      .key("ioThreads", decoded(c.io_threads, {.max = 1024}))
      .key("readonlymode.enabled", lenient_switch(c.features.read_only_mode));
}

void add_storage_keys(KeyTable& table, StorageSettings& s) {
  using Compression = StorageSettings::Compression;
  TableBuilder(table)
      .key("snapCount", decoded(s.snap_count, {.min = 2, .raise = true}))
      .key("snapSizeLimitInKb", decoded(s.snap_size_limit_kb, kKilobytesOrOff))
      .key("preAllocSize", decoded(s.prealloc_kb, kKilobytes))
      .key("txnLogSizeLimitInKb", decoded(s.txn_log_size_limit_kb, kKilobytesOrOff))
      .key("forceSync", word_switch(s.force_sync, {.word = "no", .other = "yes", .when_equal = false}))
      .key("fsync.warningthresholdms", decoded(s.fsync_warning_threshold_ms, kMilliseconds))
      .key("snapshot.compression.method",
           choice(s.snapshot_compression,
                  {{"", Compression::kNone}, {"gz", Compression::kGzip}, {"snappy", Compression::kSnappy}}))
      .key("snapshot.trust.empty", lenient_switch(s.snapshot_trust_empty))
      .key("datadir.autocreate", lenient_switch(s.data_dir_autocreate))
      .key("db.autocreate", lenient_switch(s.db_autocreate))
      .key("digest.enabled", lenient_switch(s.digest_enabled))
      .key("serializeLastProcessedZxid.enabled", lenient_switch(s.serialize_last_processed_zxid))
      .key("closeSessionTxn.enabled", lenient_switch(s.close_session_txn))
      .key("autopurge.snapRetainCount", decimal(s.purge_snap_retain_count, {.min = 3, .raise = true}))
      .key("autopurge.purgeInterval", interval_in_hours(s.purge_interval_ms))
      .key("autopurge.triggerSizeInMb", decoded(s.purge_trigger_mb, {.unit = "megabytes"}));
}

void add_limit_keys(KeyTable& table, Limits& l, Deadlines& t, Draft& d) {
  TableBuilder(table)
      .key("jute.maxbuffer", decoded(l.jute_max_buffer, {.min = 1, .unit = "bytes"}))
      .key("jute.maxbuffer.extrasize",
           decoded(d.jute_extra_size, {.min = 1024, .unit = "bytes", .raise = true}))
      .key("maxClientCnxns", optional_limit(l.connections_per_ip, Notation::kDecimal))
      .key("maxCnxns", optional_limit(l.connections, Notation::kDecode))
      .key("sessionCreationRate", decoded(l.sessions_per_second, {.unit = "sessions a second"}))
      .key("sessionCreationRatePerAddress",
           decoded(d.session_rate_per_address, {.unit = "sessions a second"}))
      .key("globalOutstandingLimit", decoded(l.outstanding_requests, {.min = 1}))
      .key("maxOutstandingPerConnection", decoded(l.outstanding_per_connection, {.min = 1}))
      .key("outputBufferHighWaterInKb", kilobytes(l.output_high_water_bytes, {.min = 1}))
      .key("outputBufferLimitInKb", kilobytes(l.output_max_bytes, {}))
      .key("outputBufferTotalLimitInKb", kilobytes(l.output_total_bytes, {.min = 1024}))
      .key("maxWatches", decoded(l.watches))
      .key("maxWatchesPerSession", decoded(l.watches_per_session))
      .key("maxMultiOps", decoded(l.multi_operations))
      .key("maxPathLength", decoded(l.path_bytes, {.unit = "bytes"}))
      .key("maxAclEntries", decoded(l.acl_entries))
      .key("maxAuthIdsPerConnection", decoded(l.auth_ids_per_connection))
      .key("nio.sessionlessCnxnTimeout", decoded(t.first_frame_ms, kMillisecondsFromOne))
      .key("frameTimeoutMs", decoded(t.started_frame_ms, kMillisecondsFromOne));
}

void add_throttle_keys(KeyTable& table, Limits& l) {
  ConnectionThrottleLimits& c = l.connection_throttle;
  RequestThrottleLimits& r = l.request_throttle;
  TableBuilder(table)
      .key("connection_throttle_tokens", decoded(c.tokens))
      .key("connection_throttle_fill_time", decoded(c.fill_time_ms, kMillisecondsFromOne))
      .key("connection_throttle_fill_count", decoded(c.fill_count, {.min = 1}))
      .key("connection_throttle_freeze_time", decoded(c.freeze_time_ms, kMillisecondsOrUnset))
      .key("connection_throttle_drop_increase", fraction(c.drop_increase))
      .key("connection_throttle_drop_decrease", fraction(c.drop_decrease))
      .key("connection_throttle_decrease_ratio", fraction(c.decrease_ratio))
      .key("connection_throttle_weight_enabled", lenient_switch(c.weighted))
      .key("connection_throttle_global_session_weight", decoded(c.global_weight, {.min = 1}))
      .key("connection_throttle_local_session_weight", decoded(c.local_weight, {.min = 1}))
      .key("connection_throttle_renew_session_weight", decoded(c.renew_weight, {.min = 1}))
      .key("request_throttle_max_requests", decoded(r.requests_max))
      .key("request_throttle_drop_stale", lenient_switch(r.drop_stale))
      .key("request_stale_connection_check", lenient_switch(r.stale_by_connection))
      .key("request_stale_latency_check", lenient_switch(r.stale_by_latency))
      .key("throttled_op_wait_time", decoded(r.wait_max_ms, kMilliseconds))
      .key("largeRequestThreshold", decoded(l.large_request_threshold, {.min = -1, .unit = "bytes"}))
      .key("largeRequestMaxBytes", decoded(l.large_request_max_bytes, {.min = 1, .unit = "bytes"}));
}

void add_feature_keys(KeyTable& table, Features& f) {
  TableBuilder(table)
      .key("extendedTypesEnabled", lenient_switch(f.extended_types))
      .key("emulate353TTLNodes", lenient_switch(f.emulate_353_ttl))
      .key("enforceQuota", lenient_switch(f.enforce_quota))
      .key("znode.container.checkIntervalMs", decoded(f.container_check_interval_ms, kMillisecondsFromOne))
      .key("znode.container.maxPerMinute", decoded(f.container_max_per_minute, {.min = 1}))
      .key("znode.container.maxNeverUsedIntervalMs", decoded(f.container_max_never_used_ms, kMilliseconds))
      .key("clientTcpKeepAlive", lenient_switch(f.client_tcp_keep_alive));
}

Setter whitelist(Whitelist& words) {
  return [&words](std::string_view value) {
    std::vector<std::string> unknown;
    words = Whitelist::parse(value, &unknown);
    if (unknown.empty()) return Verdict::accepted();
    return Verdict::warned(escaped(unknown.front()) + " is not a four-letter word");
  };
}

// Java accepts every name that its security providers know. These are the names that OpenSSL also knows.
Setter digest_algorithm(std::string& target) {
  const auto same = [](std::string_view name) { return std::pair(name, std::string(name)); };
  return choice<std::string>(target, {same("SHA1"), same("SHA-1"), same("SHA-256"), same("SHA-384"),
                                      same("SHA-512"), same("SHA3-256"), same("SHA3-512"), same("MD5")});
}

// A plain password here locks the super user out, and exposes the password in this file.
Setter super_digest(Secret& target) {
  return [&target](std::string_view value) {
    target = Secret(std::string(value));
    return value.find(':') != std::string_view::npos
               ? Verdict::accepted()
               : Verdict::warned("no client can match it: expected user:digest");
  };
}

void add_auth_keys(KeyTable& table, AuthSettings& a) {
  TableBuilder(table)
      .key("skipACL", word_switch(a.skip_acl, {.word = "yes", .other = "no", .when_equal = true}))
      .key("DigestAuthenticationProvider.enabled", lenient_switch(a.digest_enabled))
      .key("DigestAuthenticationProvider.digestAlg", digest_algorithm(a.digest_algorithm))
      .secret("DigestAuthenticationProvider.superDigest", super_digest(a.super_digest))
      .key("X509AuthenticationProvider.superUser", text(a.x509_super_user))
      .key("enableEagerACLCheck", lenient_switch(a.eager_acl))
      .key("IPAuthenticationProvider.usexforwardedfor", lenient_switch(a.use_forwarded_for))
      .key("enforce.auth.enabled", lenient_switch(a.enforce_auth))
      .key("enforce.auth.schemes", list(a.enforce_schemes))
      .key("ensembleAuthName", list(a.ensemble_names));
}

// Appends a name: each key superUser.X adds one.
Setter one_more(std::vector<std::string>& target) {
  return [&target](std::string_view value) {
    target.emplace_back(value);
    return Verdict::accepted();
  };
}

// SERVICE/HOST. Java accepts a realm, and then no login works: it appends its own.
Setter service_principal(std::string& target) {
  return [&target](std::string_view value) {
    const std::size_t slash = value.find('/');
    if (slash == 0 || slash == value.npos || slash + 1 == value.size() || has_control_character(value) ||
        value.find_first_of("/@\\ ", slash + 1) != value.npos || value.find('@') < slash)
      return Verdict::rejected("expected SERVICE/_HOST or SERVICE/HOST, without a realm");
    target = value;
    return Verdict::accepted();
  };
}

void add_sasl_keys(KeyTable& table, SaslSettings& s, Draft& d) {
  TableBuilder(table)
      .key("java.security.auth.login.config", non_empty_text(s.login_config))
      .key("java.security.krb5.conf", non_empty_text(s.krb5_config))
      .key("sasl.serverconfig", non_empty_text(s.section))
      .key("allowSaslFailedClients", lenient_switch(s.allow_failed_clients))
      .key("sessionRequireClientSASLAuth", lenient_switch(d.require_sasl))
      .key("superUser", one_more(s.super_users))
      .secret("SASLAuthenticationProvider.superPassword", secret_text(s.super_password))
      .key("letAnySaslUserDoX", text(s.any_user))
      .key("kerberos.removeHostFromPrincipal", lenient_switch(s.remove_host))
      .key("kerberos.removeRealmFromPrincipal", lenient_switch(s.remove_realm))
      .key("security.auth_to_local", text(s.auth_to_local));
}

void add_quorum_sasl_keys(KeyTable& table, QuorumSaslSettings& q) {
  TableBuilder(table)
      .key("quorum.auth.enableSasl", strict_switch(q.enabled))
      .key("quorum.auth.learnerRequireSasl", strict_switch(q.learner_requires))
      .key("quorum.auth.serverRequireSasl", strict_switch(q.server_requires))
      .key("quorum.auth.learner.saslLoginContext", non_empty_text(q.learner_section))
      .key("quorum.auth.server.saslLoginContext", non_empty_text(q.server_section))
      .key("quorum.auth.kerberos.servicePrincipal", service_principal(q.service_principal));
}

void add_store_keys(KeyTable& table, const std::string& prefix, StoreSettings& store) {
  TableBuilder(table)
      .key(prefix + "location", text(store.location))
      .secret(prefix + "password", secret_text(store.password))
      .key(prefix + "passwordPath", text(store.password_path))
      .key(prefix + "type", choice(store.type, {{"", StoreType::kByExtension},
                                                {"JKS", StoreType::kJks},
                                                {"PEM", StoreType::kPem},
                                                {"PKCS12", StoreType::kPkcs12},
                                                {"BCFKS", StoreType::kBcfks}}));
}

void add_tls_keys(KeyTable& table, const std::string& prefix, TlsSettings& tls) {
  add_store_keys(table, prefix + "keyStore.", tls.key_store);
  add_store_keys(table, prefix + "trustStore.", tls.trust_store);
  TableBuilder(table)
      .key(prefix + "protocol", text(tls.protocol))
      .key(prefix + "enabledProtocols", list(tls.enabled_protocols))
      .key(prefix + "ciphersuites", list(tls.ciphersuites))
      .key(prefix + "clientAuth", choice(tls.client_auth, {{"none", net::ClientAuth::kNone},
                                                           {"want", net::ClientAuth::kWant},
                                                           {"need", net::ClientAuth::kNeed}}))
      .key(prefix + "crl", lenient_switch(tls.crl))
      .key(prefix + "crl.location", text(tls.crl_location))
      .key(prefix + "ocsp", lenient_switch(tls.ocsp))
      .key(prefix + "hostnameVerification", lenient_switch(tls.hostname_verification))
      .key(prefix + "clientHostnameVerification", lenient_switch(tls.client_hostname_verification))
      .key(prefix + "handshakeDetectionTimeoutMillis",
           decoded(tls.handshake_timeout_ms, kMillisecondsFromOne));
}

Setter log_level(std::string& target) {
  return [&target](std::string_view value) {
    if (!parse_log_level(value)) return Verdict::rejected("expected trace, debug, info, warn, error or off");
    target = value;
    return Verdict::accepted();
  };
}

void add_outside_keys(KeyTable& table, ServerConfig& c, Draft& d) {
  TableBuilder(table)
      .key("4lw.commands.whitelist", whitelist(c.words))
      .key("log.dir", text(c.log.directory))
      .key("log.file", non_empty_text(c.log.file))
      .key("log.threshold", log_level(c.log.level))
      .key("log.maxfilesize", file_size(c.log.file_bytes_max))
      .key("log.maxbackupindex", decoded(c.log.files_max, {.max = 10'000}))
      .key("audit.enable", lenient_switch(c.log.audit))
      .key("audit.impl.class", text(d.audit_class))
      .key("auditlog.file", non_empty_text(c.log.audit_file))
      .key("auditlog.threshold", log_level(c.log.audit_level));
}

// The path of the commands, such as "/commands". Java accepts any text, and most of it then serves nothing.
Setter url_path(std::string& target) {
  return [&target](std::string_view value) {
    const bool is_path = value.size() > 1 && value.starts_with('/') && !value.ends_with('/') &&
                         value.find_first_of(" ?#*%") == std::string_view::npos &&
                         !has_control_character(value);
    if (!is_path) return Verdict::rejected("expected a path such as /commands");
    target = value;
    return Verdict::accepted();
  };
}

// A comma separated list. Names are compared case-insensitively, so they are stored in lower case.
Setter host_names(std::vector<std::string>& target) {
  return [&target](std::string_view value) {
    target.clear();
    while (!value.empty()) {
      const std::size_t comma = value.find(',');
      std::string name;
      for (const char c : value.substr(0, comma)) {
        if (c != ' ') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
      if (!name.empty()) target.push_back(std::move(name));
      value.remove_prefix(comma == value.npos ? value.size() : comma + 1);
    }
    return Verdict::accepted();
  };
}

Setter metrics_provider(bool& prometheus) {
  return [&prometheus](std::string_view value) {
    prometheus = value.ends_with("PrometheusMetricsProvider");
    if (prometheus || value.ends_with("DefaultMetricsProvider") || value.ends_with("NullMetricsProvider"))
      return Verdict::accepted();
    return Verdict::warned("unknown metrics provider; use /metrics on the admin port");
  };
}

void add_http_keys(KeyTable& table, AdminSettings& a, MetricsSettings& m) {
  TableBuilder(table)
      .key("admin.enableServer",
           word_switch(a.enabled, {.word = "false", .other = "true", .when_equal = false}))
      .key("admin.serverAddress", non_empty_text(a.address))
      .key("admin.serverPort", decoded(a.port, kPortRange))
      .key("admin.commandURL", url_path(a.command_url))
      .key("admin.idleTimeout", decoded(a.idle_timeout_ms, kMillisecondsFromOne))
      .key("admin.portUnification", lenient_switch(a.port_unification))
      .key("admin.forceHttps", lenient_switch(a.force_https))
      .key("admin.needClientAuth", lenient_switch(a.need_client_auth))
      .key("admin.snapshot.enabled", lenient_switch(a.snapshot_enabled))
      .key("admin.dashboard.edit", lenient_switch(a.dashboard_edit))
      .key("admin.dashboard.hosts", host_names(a.dashboard_hosts))
      .key("admin.restore.enabled", lenient_switch(a.restore_enabled))
      .key("admin.restore.maxStateInMb", decoded(a.restore_max_state_mb, {.unit = "megabytes"}))
      .key("admin.rateLimiterIntervalInMS", decoded(a.rate_limit_interval_ms, kMilliseconds))
      .key("metricsProvider.className", metrics_provider(m.prometheus))
      .key("metricsProvider.httpHost", non_empty_text(m.host))
      .key("metricsProvider.httpPort", decoded(m.port, kPortRange));
}

Setter only_fast_election() {
  return [](std::string_view value) {
    return value == "3" ? Verdict::accepted() : Verdict::rejected("expected 3, the only supported election");
  };
}

void add_ensemble_keys(KeyTable& table, EnsembleConfig& e) {
  TableBuilder(table)
      .key("initLimit", decimal(e.init_limit_ticks, kTicks))
      .key("syncLimit", decimal(e.sync_limit_ticks, kTicks))
      .key("connectToLearnerMasterLimit", decimal(e.connect_to_learner_master_limit_ticks, kTicks))
      .key("electionAlg", only_fast_election())
      .key("peerType",
           choice(e.peer_type, {{"participant", PeerType::kParticipant}, {"observer", PeerType::kObserver}}))
      .key("dynamicConfigFile", non_empty_text(e.dynamic_config_file))
      .key("standaloneEnabled", strict_switch(e.standalone_enabled))
      .key("reconfigEnabled", strict_switch(e.reconfig_enabled))
      .key("quorumListenOnAllIPs", strict_switch(e.quorum_listen_on_all_ips))
      .key("localSessionsEnabled", strict_switch(e.local_sessions_enabled))
      .key("localSessionsUpgradingEnabled", strict_switch(e.local_sessions_upgrading_enabled))
      .key("leaderServes", word_switch(e.leader_serves, {.word = "no", .other = "yes", .when_equal = false}))
      .key("sslQuorum", strict_switch(e.ssl_quorum))
      .key("portUnification", strict_switch(e.port_unification))
      .key("sslQuorumReloadCertFiles", strict_switch(e.ssl_quorum_reload_cert_files))
      .key("multiAddress.enabled", strict_switch(e.multi_address));
}

void add_quorum_tuning_keys(KeyTable& table, EnsembleConfig& e) {
  TableBuilder(table)
      .key("quorum.peerAddressCheck", choice(e.origin_check, {{"learned", net::OriginCheck::kLearned},
                                                              {"strict", net::OriginCheck::kStrict},
                                                              {"off", net::OriginCheck::kOff}}))
      .key("quorum.peerCertificateCheck", lenient_switch(e.certificate_check))
      .key("cnxTimeout", decoded(e.connect_timeout_ms, kMillisecondsFromOne))
      .key("quorumCnxnTimeoutMs", decoded(e.quorum_connection_timeout_ms, kMillisecondsOrUnset))
      .key("fastleader.minNotificationInterval",
           decoded(e.notification_interval_min_ms, kMillisecondsFromOne))
      .key("fastleader.maxNotificationInterval",
           decoded(e.notification_interval_max_ms, kMillisecondsFromOne))
      .key("leader.silenceLimitMs", decoded(e.leader_silence_limit_ms, kMillisecondsOrUnset))
      .key("leader.maxTimeToWaitForEpoch", decoded(e.wait_for_epoch_max_ms, kMillisecondsOrUnset))
      .key("electionPortBindRetry", decoded(e.election_port_bind_retries))
      .key("forceSnapshotSync", lenient_switch(e.force_snapshot_sync))
      .key("commitLogCount", decoded(e.commit_log_count, {.min = 1}))
      .key("snapshotSizeFactor", fraction_or_off(e.snapshot_size_factor))
      .key("leader.maxConcurrentSnapSyncs", decoded(e.snap_syncs_max, {.min = 1}))
      .key("leader.maxConcurrentDiffSyncs", decoded(e.diff_syncs_max, {.min = 1}));
}

}  // namespace

KeyTable key_table(ServerConfig& config, Draft& draft) {
  KeyTable table;
  add_server_keys(table, config, draft);
  add_storage_keys(table, config.storage);
  add_limit_keys(table, config.limits, config.deadlines, draft);
  add_throttle_keys(table, config.limits);
  add_feature_keys(table, config.features);
  add_auth_keys(table, config.auth);
  add_sasl_keys(table, config.sasl, draft);
  add_quorum_sasl_keys(table, config.sasl.quorum);
  add_tls_keys(table, "ssl.", config.tls);
  add_tls_keys(table, "ssl.quorum.", config.quorum_tls);
  add_outside_keys(table, config, draft);
  add_http_keys(table, config.admin, config.metrics);
  add_ensemble_keys(table, config.ensemble);
  add_quorum_tuning_keys(table, config.ensemble);
  return table;
}

}  // namespace drover::server
