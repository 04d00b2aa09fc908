// SPDX-License-Identifier: Apache-2.0
//
// Rules between keys. Rules for a single key are in keys.cc.
#include <fmt/format.h>

#include <algorithm>

#include "base/result.h"
#include "config/load.h"
#include "log/log.h"
#include "zab/membership_text.h"

namespace drover::server {
namespace {

// The highest byte of a session id is the server's id, and 0xff marks a TTL node.
constexpr std::int64_t kMyIdMaxWithExtendedTypes = 0xfe;

constexpr std::string_view kRemoved =
    ". A reconfiguration may have removed this server from the ensemble. To add it again, write the present "
    "members and its own server line into its configuration instead of dynamicConfigFile, start it, and add "
    "it "
    "with reconfig";

std::unexpected<ConfigError> wrong(const CheckContext& context, std::string_view sentence) {
  return std::unexpected(ConfigError{fmt::format("{}: {}", context.source, sentence)});
}

int saturated_product(int a, int b) {
  const std::int64_t product = std::int64_t{a} * b;
  return static_cast<int>(std::min(product, kInt32Max));
}

std::expected<void, ConfigError> complete_timeouts(ServerConfig& config, const CheckContext& context) {
  const auto or_ticks = [&config](std::optional<int> written, int ticks) {
    return written.value_or(-1) == -1 ? saturated_product(config.tick_time_ms, ticks) : *written;
  };
  config.min_session_timeout_ms = or_ticks(context.draft.min_session_timeout_ms, 2);
  config.max_session_timeout_ms = or_ticks(context.draft.max_session_timeout_ms, 20);
  if (config.min_session_timeout_ms <= config.max_session_timeout_ms) return {};
  return wrong(context, fmt::format("minSessionTimeout ({}) must not be larger than maxSessionTimeout ({})",
                                    config.min_session_timeout_ms, config.max_session_timeout_ms));
}

std::expected<void, ConfigError> complete_directories(ServerConfig& config, const CheckContext& context) {
  const Draft& draft = context.draft;
  if (!draft.data_dir && context.from_file) return wrong(context, "dataDir is not set");
  config.data_dir = draft.data_dir.value_or(config.data_dir);
  config.data_log_dir = draft.data_log_dir.value_or(config.data_dir);
  return {};
}

std::expected<void, ConfigError> complete_listeners(ServerConfig& config, const CheckContext& context) {
  const Draft& draft = context.draft;
  if (context.from_file || draft.client_port || !draft.client_address.empty()) {
    // Without a file the address is loopback unless it is set explicitly.
    const Endpoint standard = config.client.value_or(Endpoint{});
    config.client.reset();
    if (draft.client_port || !context.from_file) {
      config.client =
          Endpoint{context.from_file ? "" : standard.host, draft.client_port.value_or(standard.port)};
      if (!draft.client_address.empty()) config.client->host = draft.client_address;
    } else if (!draft.client_address.empty()) {
      return wrong(context, "clientPortAddress is set but clientPort is not");
    }
  }
  if (draft.secure_client_port) {
    config.secure_client = Endpoint{draft.secure_client_address, *draft.secure_client_port};
  } else if (!draft.secure_client_address.empty()) {
    return wrong(context, "secureClientPortAddress is set but secureClientPort is not");
  }
  return {};
}

std::expected<void, ConfigError> check_tls(const ServerConfig& config, const CheckContext& context) {
  if (config.secure_client || config.client_port_unification) {
    const std::string_view asker = config.secure_client ? "secureClientPort" : "client.portUnification";
    if (config.tls.key_store.location.empty()) {
      return wrong(context, fmt::format("{} needs ssl.keyStore.location", asker));
    }
    // Java falls back to the public certificate authorities here, so it accepts everyone who owns a web site.
    if (config.tls.client_auth != net::ClientAuth::kNone && config.tls.trust_store.location.empty()) {
      return wrong(context, fmt::format("{} needs ssl.trustStore.location, or ssl.clientAuth=none", asker));
    }
  }
  if (config.admin.enabled && config.admin.uses_tls()) {
    const std::string_view asker = config.admin.force_https ? "admin.forceHttps" : "admin.portUnification";
    if (config.quorum_tls.key_store.location.empty())
      return wrong(context, fmt::format("{} needs ssl.quorum.keyStore.location", asker));
    if (config.admin.need_client_auth && config.quorum_tls.trust_store.location.empty())
      return wrong(context, "admin.needClientAuth needs ssl.quorum.trustStore.location");
  }
  if (config.ensemble.certificate_check == true && config.quorum_tls.client_auth != net::ClientAuth::kNeed) {
    return wrong(context, "quorum.peerCertificateCheck=true needs ssl.quorum.clientAuth=need");
  }
  if (config.ensemble.ssl_quorum && config.quorum_tls.key_store.location.empty()) {
    return wrong(context, "sslQuorum needs ssl.quorum.keyStore.location");
  }
  return {};
}

bool is_available(std::string_view scheme, const ServerConfig& config) {
  if (scheme == "digest") return config.auth.digest_enabled;
  if (scheme == "x509") return config.secure_client || config.client_port_unification;
  if (scheme == "ensemble") return config.auth.ensemble_provider;
  if (scheme == "sasl") return config.sasl.provider;
  return scheme == "ip";
}

// As in Java, a rule without schemes, or with a scheme that no client can use, is an error.
std::expected<void, ConfigError> check_enforced_schemes(const ServerConfig& config,
                                                        const CheckContext& context) {
  const AuthSettings& auth = config.auth;
  if (!auth.enforce_auth) return {};
  if (auth.enforce_schemes.empty()) return wrong(context, "enforce.auth.enabled needs enforce.auth.schemes");
  for (const std::string& scheme : auth.enforce_schemes) {
    if (is_available(scheme, config)) continue;
    return wrong(context, fmt::format("enforce.auth.schemes: {} is not available{}", escaped(scheme, 64),
                                      scheme == "sasl" ? ": authProvider.1=org.apache.zookeeper.server.auth."
                                                         "SASLAuthenticationProvider is missing"
                                                       : ""));
  }
  // Java starts, and then refuses every client.
  if (auth.enforce_schemes == std::vector<std::string>{"sasl"} && !config.sasl.login)
    return wrong(context,
                 "clients must log in with SASL, but nobody can: set java.security.auth.login.config");
  return {};
}

// Both of ZooKeeper's own loggers write the lines that this server writes.
std::expected<void, ConfigError> check_audit(const LogSettings& log, const CheckContext& context) {
  constexpr std::string_view kPackage = "org.apache.zookeeper.audit.";
  const std::string_view name = context.draft.audit_class;
  const bool known = name.empty() || (name.starts_with(kPackage) && (name.ends_with(".Slf4jAuditLogger") ||
                                                                     name.ends_with(".Log4jAuditLogger")));
  if (!log.audit || known) return {};
  return wrong(context, fmt::format("audit.impl.class: {}: a Java class cannot be loaded; without this key, "
                                    "lines go to auditlog.file",
                                    escaped(name, 128)));
}

// Settings that work as documented, but that few operators want once they know the effect.
void warn_of_dangers(LoadedConfig& loaded, const CheckContext& context) {
  const ServerConfig& config = loaded.config;
  const auto warn = [&](std::string_view sentence) {
    loaded.warnings.push_back(fmt::format("{}: {}", context.source, sentence));
  };
  if (!config.storage.force_sync) warn("forceSync=no: a power failure can lose acknowledged writes");
  if (config.auth.use_forwarded_for)
    warn(
        "IPAuthenticationProvider.usexforwardedfor=true: every HTTP client can claim any address, unless all "
        "of them come through a proxy that sets X-Forwarded-For");
  if (config.auth.skip_acl) warn("skipACL=yes: every client may read and change everything");
}

std::expected<void, ConfigError> check_voters(LoadedConfig& loaded, const CheckContext& context) {
  const EnsembleConfig& e = loaded.config.ensemble;
  const std::size_t voters = e.members.voters().size();
  if (voters == 0 && !e.standalone_enabled) {
    return wrong(context, "standaloneEnabled=false needs at least one participant");
  }
  if (!e.members.observers().empty() && !e.is_distributed()) {
    return wrong(context, "observers need an ensemble of participants to follow");
  }
  const auto warn = [&](std::string sentence) {
    loaded.warnings.push_back(fmt::format("{}: {}", context.source, sentence));
  };
  if (voters == 1 && e.standalone_enabled) {
    warn("a single server is not an ensemble; it runs standalone");
  } else if (voters == 1 || voters == 2) {
    warn("no failure will be tolerated with fewer than 3 participants");
  } else if (voters > 0 && voters % 2 == 0 && e.members.groups().empty()) {
    warn(fmt::format("{} participants tolerate no more failures than {}", voters, voters - 1));
  }
  return {};
}

// server.N can contain the client port; it must agree with clientPort.
std::expected<void, ConfigError> adopt_client_address(ServerConfig& config, const PeerSpec& self,
                                                      const CheckContext& context) {
  if (self.client && config.client) {
    const bool anywhere = config.client->host.empty() || config.client->host == "0.0.0.0";
    if (config.client->port != self.client->port || (!anywhere && config.client->host != self.client->host)) {
      return wrong(context, fmt::format("clientPort says {}, server.{} says {}", to_text(*config.client),
                                        raw(self.id), to_text(*self.client)));
    }
  }
  if (self.client) config.client = self.client;
  if (self.secure_client) config.secure_client = self.secure_client;
  return {};
}

// A server must not forget the members that it has acknowledged, so they are stored in the files that it
// starts from.
std::expected<void, ConfigError> check_reconfig(const LoadedConfig& loaded, const CheckContext& context) {
  if (!loaded.config.ensemble.reconfig_enabled) return {};
  if (!context.from_file)
    return wrong(context, "reconfigEnabled=true needs a configuration file: new members are stored in it");
  if (context.members_outside_file)
    return wrong(
        context,
        "reconfigEnabled=true: server.N and dynamicConfigFile must be in the file, not on the command "
        "line, because a reconfiguration changes them");
  return {};
}

std::expected<void, ConfigError> check_member(LoadedConfig& loaded, const CheckContext& context) {
  EnsembleConfig& e = loaded.config.ensemble;
  if (!e.my_id) return wrong(context, fmt::format("{}/myid is missing", loaded.config.data_dir));
  if (e.init_limit_ticks == 0) return wrong(context, "initLimit is not set");
  if (e.sync_limit_ticks == 0) return wrong(context, "syncLimit is not set");
  // The sessions of such a server would look like the owners of TTL nodes, which begin with 0xff (Java
  // rejects it too).
  if (loaded.config.features.extended_types && raw(*e.my_id) > kMyIdMaxWithExtendedTypes) {
    return wrong(context, fmt::format("myid is {}, and with extendedTypesEnabled it may be {} at most",
                                      raw(*e.my_id), kMyIdMaxWithExtendedTypes));
  }
  TRY(check_reconfig(loaded, context));
  const auto self = e.members.servers().find(*e.my_id);
  if (self == e.members.servers().end()) {
    const std::int64_t id = raw(*e.my_id);
    return wrong(context, fmt::format("myid is {0}, and there is no server.{0}{1}", id,
                                      e.members.version() > 0 ? kRemoved : std::string_view{}));
  }
  if (self->second.type != e.peer_type) {
    if (e.peer_type == PeerType::kObserver) {
      loaded.warnings.push_back(
          fmt::format("{}: peerType=observer, but server.{} is a participant; the server list wins",
                      context.source, raw(*e.my_id)));
    }
    e.peer_type = self->second.type;
  }
  return {};
}

}  // namespace

std::expected<void, ConfigError> complete_and_check(LoadedConfig& loaded, const CheckContext& context) {
  ServerConfig& config = loaded.config;
  TRY(complete_directories(config, context));
  TRY(complete_timeouts(config, context));
  TRY(complete_listeners(config, context));
  config.limits.jute_extra_size =
      context.draft.jute_extra_size.value_or(std::max(config.limits.jute_max_buffer, 1024));
  // Takes the place of the other rule, as in Java.
  if (context.draft.require_sasl) {
    config.auth.enforce_auth = true;
    config.auth.enforce_schemes = {"sasl"};
  }
  // An operator who removes the limit of connections per address has many clients behind one address.
  config.limits.sessions_per_second_per_address = context.draft.session_rate_per_address.value_or(
      config.limits.connections_per_ip > 0 ? config.limits.sessions_per_second_per_address : 0);
  // A client that can fall back to read-only servers asks them with `isro`, as in Java.
  if (config.features.read_only_mode) config.words.allow("isro");
  return {};
}

std::expected<void, ConfigError> check_ensemble(LoadedConfig& loaded, const CheckContext& context) {
  ServerConfig& config = loaded.config;
  EnsembleConfig& e = config.ensemble;
  if (auto checked = zab::check_membership(e.members); !checked)
    return wrong(context, checked.error().sentence);
  TRY(check_voters(loaded, context));
  if (e.my_id) {
    const auto self = e.members.servers().find(*e.my_id);
    if (self != e.members.servers().end()) TRY(adopt_client_address(config, self->second, context));
  }
  if (e.is_distributed()) TRY(check_member(loaded, context));
  if (!config.client && !config.secure_client)
    return wrong(context, "neither clientPort nor secureClientPort is set");
  TRY(check_tls(config, context));
  TRY(check_enforced_schemes(config, context));
  TRY(check_audit(config.log, context));
  warn_of_dangers(loaded, context);
  return {};
}

}  // namespace drover::server
