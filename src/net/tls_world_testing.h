// SPDX-License-Identifier: Apache-2.0
//
// For tests of handshakes: who takes part in them, and one handshake in one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "net/tls_test_support.h"

namespace drover::net::testing {

inline std::string crl_pem(const Identity& authority, const Identity* revoked) {
  const CrlPtr crl(X509_CRL_new());
  const std::unique_ptr<ASN1_TIME, OpensslDeleter<ASN1_TIME_free>> now(X509_gmtime_adj(nullptr, -60));
  const std::unique_ptr<ASN1_TIME, OpensslDeleter<ASN1_TIME_free>> next(X509_gmtime_adj(nullptr, 3600));
  X509_CRL_set_version(crl.get(), 1);
  X509_CRL_set_issuer_name(crl.get(), X509_get_subject_name(authority.certificate.get()));
  X509_CRL_set1_lastUpdate(crl.get(), now.get());
  X509_CRL_set1_nextUpdate(crl.get(), next.get());
  if (revoked != nullptr) {
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked->certificate.get()));
    X509_REVOKED_set_revocationDate(entry, now.get());
    X509_CRL_add0_revoked(crl.get(), entry);
  }
  X509_CRL_sign(crl.get(), authority.key.get(), EVP_sha256());
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_CRL(bio.get(), crl.get());
  return contents_of(bio.get());
}

// An authority, a server and a client under it, and a stranger under another authority.
struct TlsWorld {
  Identity authority = make_identity({.common_name = "authority", .is_authority = true});
  Identity server = make_identity(
      {.common_name = "server", .issuer = &authority, .alt_names = "DNS:zk.example,IP:127.0.0.1"});
  Identity client =
      make_identity({.common_name = "client", .issuer = &authority, .alt_names = "IP:10.0.0.7"});
  Identity other_authority = make_identity({.common_name = "other authority", .is_authority = true});
  Identity stranger = make_identity({.common_name = "stranger", .issuer = &other_authority});
  TempDir dir;

  StoreOptions key(const Identity& identity, const std::string& name) const {
    return {.location = dir.write(name + ".pem", pem_of(identity.key) + pem_of(identity.certificate))};
  }
  StoreOptions trust(const Identity& identity, const std::string& name) const {
    return {.location = dir.write(name + ".pem", pem_of(identity.certificate))};
  }
  TlsOptions server_options() const {
    return {.key_store = key(server, "server"), .trust_store = trust(authority, "ca")};
  }
  TlsOptions client_options() const {
    return {
        .role = TlsRole::kClient, .key_store = key(client, "client"), .trust_store = trust(authority, "ca")};
  }
};

inline const TlsWorld& world() {
  static const TlsWorld made;
  return made;
}

inline const TlsPeer kServerByName{.host = "zk.example", .address = *Address::parse("192.0.2.1", 0)};

inline ContextPtr load(const TlsOptions& options) {
  auto context = TlsContext::load(options);
  EXPECT_TRUE(context) << context.error().what;
  return *context;
}

struct Outcome {
  bool done;
  StreamPair pair;
};

inline Outcome meet(const TlsOptions& server, const TlsOptions& client,
                    const TlsPeer& as_client_sees = kServerByName, const TlsPeer& as_server_sees = {}) {
  StreamPair pair = tls_pair(load(server), load(client), as_client_sees, as_server_sees);
  const bool done = shake_hands(pair);
  return {done, std::move(pair)};
}

}  // namespace drover::net::testing
