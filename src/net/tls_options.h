// SPDX-License-Identifier: Apache-2.0
//
// The values of ZooKeeper's `ssl.*` and `ssl.quorum.*` properties. Each field names its property without the
// prefix; the configuration code reads the properties.
#pragma once

#include <string>
#include <vector>

namespace drover::net {

// keyStore.* or trustStore.*
struct StoreOptions {
  std::string location = {};       // empty: none
  std::string password = {};       // .password
  std::string password_path = {};  // .passwordPath; if set, its content overrides `password`
  std::string type = {};           // JKS, PKCS12 or PEM; empty: by file extension (.jks, .p12, .pem)
};

enum class TlsRole { kServer, kClient };
enum class ClientAuth { kNone, kWant, kNeed };

struct TlsOptions {
  TlsRole role = TlsRole::kServer;
  StoreOptions key_store = {};
  StoreOptions trust_store = {};

  std::string protocol = {};                        // empty: TLSv1.3 and TLSv1.2
  std::vector<std::string> enabled_protocols = {};  // empty: as in `protocol`
  std::vector<std::string> cipher_suites = {};      // ciphersuites, IANA names; empty: a safe default
  ClientAuth client_auth = ClientAuth::kNeed;

  // A client checks that the server's certificate names the host or the address it connected to.
  bool hostname_verification = true;
  // A server checks that a client's certificate names the address it connects from. Default: false on the
  // client port, true on quorum ports. There are no reverse lookups. As in ZooKeeper it has an effect only
  // together with hostname_verification.
  bool client_hostname_verification = false;

  // Revocation lists are read from the trust store (PEM) and from this file, never from the network.
  bool crl = false;
  std::string crl_location = {};
  bool ocsp = false;  // not supported: loading fails

  int handshake_timeout_ms = 5000;  // handshakeDetectionTimeoutMillis; the stream's owner enforces it
};

}  // namespace drover::net
