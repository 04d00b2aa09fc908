// SPDX-License-Identifier: Apache-2.0
//
// The configuration of ZooKeeper's `ssl.*` and `ssl.quorum.*` families: checked, and with passwords that
// cannot be printed. to_tls_options() converts it for net/, which makes an OpenSSL context.
#pragma once

#include <string>
#include <vector>

#include "base/secret.h"
#include "net/tls_options.h"

namespace drover::server {

enum class StoreType { kByExtension, kPem, kJks, kPkcs12, kBcfks };

// A file of keys or certificates. If `password` is empty, the password is in the file `password_path`.
struct StoreSettings {
  std::string location;
  Secret password;
  std::string password_path;
  StoreType type = StoreType::kByExtension;
};

struct TlsSettings {
  StoreSettings key_store;
  StoreSettings trust_store;
  std::string protocol;                        // empty: TLS 1.3 and 1.2, the newest that both sides support
  std::vector<std::string> enabled_protocols;  // "TLSv1.2", "TLSv1.3"; empty: from `protocol`
  std::vector<std::string> ciphersuites;       // Java's names (TLS_ECDHE_…); empty: the library's choice
  net::ClientAuth client_auth = net::ClientAuth::kNeed;
  bool crl = false;
  std::string crl_location;  // revocation lists besides those in the trust store
  bool ocsp = false;
  bool hostname_verification = true;
  bool client_hostname_verification = false;
  int handshake_timeout_ms = 5000;
};

// Between servers, both ends verify the other's host name.
inline TlsSettings quorum_tls_defaults() {
  TlsSettings settings;
  settings.client_hostname_verification = true;
  return settings;
}

net::TlsOptions to_tls_options(const TlsSettings& settings, net::TlsRole role);

}  // namespace drover::server
