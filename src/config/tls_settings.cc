// SPDX-License-Identifier: Apache-2.0
#include "config/tls_settings.h"

namespace drover::server {
namespace {

std::string name_of(StoreType type) {
  switch (type) {
    case StoreType::kByExtension: return "";
    case StoreType::kPem: return "PEM";
    case StoreType::kJks: return "JKS";
    case StoreType::kPkcs12: return "PKCS12";
    case StoreType::kBcfks: return "BCFKS";
  }
  return "";
}

net::StoreOptions to_store_options(const StoreSettings& store) {
  return {.location = store.location,
          .password = store.password.reveal(),
          .password_path = store.password_path,
          .type = name_of(store.type)};
}

}  // namespace

net::TlsOptions to_tls_options(const TlsSettings& settings, net::TlsRole role) {
  return {.role = role,
          .key_store = to_store_options(settings.key_store),
          .trust_store = to_store_options(settings.trust_store),
          .protocol = settings.protocol,
          .enabled_protocols = settings.enabled_protocols,
          .cipher_suites = settings.ciphersuites,
          .client_auth = settings.client_auth,
          .hostname_verification = settings.hostname_verification,
          .client_hostname_verification = settings.client_hostname_verification,
          .crl = settings.crl,
          .crl_location = settings.crl_location,
          .ocsp = settings.ocsp,
          .handshake_timeout_ms = settings.handshake_timeout_ms};
}

}  // namespace drover::server
