// SPDX-License-Identifier: Apache-2.0
#include "server/client_sasl.h"

#include <stdlib.h>

#include <cerrno>
#include <string>
#include <utility>

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

}  // namespace

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
  return {};
}

}  // namespace drover::server
