// SPDX-License-Identifier: Apache-2.0
#include "server/client_sasl.h"

#include <stdlib.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "runtime/peer_sasl.h"
#include "sasl/kerberos_name.h"
#include "sasl/mechanisms.h"

namespace drover::server {
namespace {

// The names of DIGEST-MD5's users take the same way as Kerberos names.
IoResult<sasl::AuthorizationRule> rule_of(const SaslSettings& settings) {
  auto rules = sasl::AuthToLocal::parse(settings.auth_to_local, sasl::default_kerberos_realm());
  if (!rules) return std::unexpected(data_error("security.auth_to_local: " + rules.error()));
  return sasl::client_port_rule(*std::move(rules),
                                {.remove_host = settings.remove_host, .remove_realm = settings.remove_realm});
}

IoResult<std::unique_ptr<SaslFactory>> mechanism_of(const SaslSettings& settings,
                                                    sasl::AuthorizationRule rule) {
  if (const auto& kerberos = settings.login->kerberos) {
    return sasl::gssapi_server({.keytab = kerberos->key_tab, .principal = kerberos->principal},
                               std::move(rule));
  }
  return sasl::digest_md5_server(settings.login->users, sasl::kClientPortDigest, std::move(rule));
}

// Takes as long for a wrong password as for the right one.
bool is_same(std::string_view given, std::string_view right) {
  unsigned char differs = given.size() == right.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char expected = right.empty() ? '\0' : right[i % right.size()];
    differs |= static_cast<unsigned char>(given[i] ^ expected);
  }
  return differs == 0 && !right.empty();
}

}  // namespace

IoResult<PasswordCheck> password_check(const SaslSettings& settings) {
  if (!settings.login || settings.login->kerberos) return PasswordCheck();
  TRY_ASSIGN(auto rule, rule_of(settings));
  return [&users = settings.login->users, rule = std::move(rule)](
             std::string_view user, std::string_view password) -> std::optional<std::string> {
    const auto found = users.find(user);
    if (!is_same(password, found == users.end() ? std::string_view() : found->second.reveal())) return {};
    auto id = rule({.authentication_id = user, .requested_id = user});
    return id ? std::optional(*std::move(id)) : std::nullopt;
  };
}

IoResult<std::unique_ptr<SaslFactory>> client_sasl(const SaslSettings& settings) {
  if (!settings.login) return nullptr;
  TRY_ASSIGN(auto rule, rule_of(settings));
  auto factory = mechanism_of(settings, std::move(rule));
  if (!factory) factory.error().what = settings.source + ": " + factory.error().what;
  return factory;
}

IoResult<void> configure_sasl(const SaslSettings& settings) {
  if (!settings.krb5_config.empty() && ::setenv("KRB5_CONFIG", settings.krb5_config.c_str(), 1) != 0)
    return std::unexpected(io_error(errno, "cannot set KRB5_CONFIG"));
  TRY(client_sasl(settings));
  return check_peer_sasl(settings.quorum);
}

}  // namespace drover::server
