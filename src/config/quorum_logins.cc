// SPDX-License-Identifier: Apache-2.0
#include "config/quorum_logins.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/result.h"
#include "log/log.h"
#include "sasl/login.h"

namespace drover::server {
namespace {

using LoginReader = std::expected<sasl::Login, sasl::JaasError> (*)(const sasl::JaasSection&);

struct Place {
  std::string_view key;  // that names the section
  const std::string& section;
};

std::unexpected<ConfigError> bad_quorum_login(std::string message) {
  return std::unexpected(ConfigError{std::move(message)});
}

std::expected<sasl::Login, ConfigError> read_login(const NamedJaasFile& file, const Place& place,
                                                   LoginReader read, std::string& source) {
  const sasl::JaasSection* section = sasl::find_section(file.sections, place.section);
  if (section == nullptr)
    return bad_quorum_login(
        fmt::format("{}: there is no section {} ({})", file.path, escaped(place.section, 64), place.key));
  auto login = read(*section);
  if (!login)
    return bad_quorum_login(fmt::format("{}:{}: {}", file.path, login.error().line, login.error().message));
  source = fmt::format("{}:{}", file.path, section->line);
  return *std::move(login);
}

bool is_host_of(const Membership& members, std::string_view host) {
  return std::ranges::any_of(members.servers(), [&](const auto& server) {
    return std::ranges::any_of(server.second.addresses,
                               [&](const PeerAddress& address) { return address.host == host; });
  });
}

// The same file is usually on all servers, so contradictions in it keep them apart.
void warn_of_contradictions(LoadedConfig& loaded) {
  const QuorumSaslSettings& quorum = loaded.config.sasl.quorum;
  const sasl::Login& server = *quorum.server_login;
  const sasl::Login& learner = *quorum.learner_login;
  const auto warn = [&](std::string sentence) {
    loaded.warnings.push_back(fmt::format("{}: {}", quorum.learner_source, sentence));
  };
  if (server.kerberos.has_value() != learner.kerberos.has_value()) {
    warn(fmt::format("logs in with {}, which section {} does not accept",
                     learner.kerberos ? "Kerberos" : "a password", quorum.server_section));
  } else if (!learner.kerberos) {
    const auto user = server.users.find(learner.username);
    if (user == server.users.end() || user->second.reveal() != learner.password.reveal())
      warn(fmt::format("section {} does not accept user {} with this password", quorum.server_section,
                       escaped(learner.username, 64)));
  } else if (const std::string host = quorum.service_principal.substr(quorum.service_principal.find('/') + 1);
             host != kHostPattern && !is_host_of(loaded.config.ensemble.members, host)) {
    warn(
        fmt::format("logs in to the principal {} on all servers, and no server has that host: set "
                    "quorum.auth.kerberos.servicePrincipal, for example to {}/_HOST",
                    escaped(quorum.service_principal, 64),
                    escaped(quorum.service_principal.substr(0, quorum.service_principal.find('/')), 64)));
  }
}

}  // namespace

std::expected<void, ConfigError> check_quorum_sasl(const QuorumSaslSettings& settings,
                                                   const CheckContext& context) {
  const auto needs = [&](std::string_view key, std::string_view other) {
    return bad_quorum_login(
        fmt::format("{}: quorum.auth.{} needs quorum.auth.{}=true", context.source, key, other));
  };
  if (settings.server_requires && !settings.enabled) return needs("serverRequireSasl", "enableSasl");
  if (settings.learner_requires && !settings.enabled) return needs("learnerRequireSasl", "enableSasl");
  // Otherwise this server itself could not link to others with the same settings.
  if (settings.server_requires && !settings.learner_requires)
    return needs("serverRequireSasl", "learnerRequireSasl");
  return {};
}

std::expected<void, ConfigError> load_quorum_logins(LoadedConfig& loaded, const NamedJaasFile& file) {
  QuorumSaslSettings& quorum = loaded.config.sasl.quorum;
  if (!quorum.enabled || !loaded.config.ensemble.is_distributed()) return {};
  TRY_ASSIGN(quorum.server_login,
             read_login(file, {"quorum.auth.server.saslLoginContext", quorum.server_section},
                        sasl::server_login_of, quorum.server_source));
  TRY_ASSIGN(quorum.learner_login,
             read_login(file, {"quorum.auth.learner.saslLoginContext", quorum.learner_section},
                        sasl::client_login_of, quorum.learner_source));
  warn_of_contradictions(loaded);
  return {};
}

}  // namespace drover::server
