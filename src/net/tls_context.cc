// SPDX-License-Identifier: Apache-2.0
#include "net/tls_context.h"

#include <openssl/err.h>

#include "net/key_store.h"
#include "net/tls_ciphers.h"
#include "net/tls_issuer.h"

namespace drover::net {
namespace {

IoResult<void> refuse_impossible(const TlsOptions& options) {
  const bool is_server = options.role == TlsRole::kServer;
  if (options.ocsp) {
    return std::unexpected(
        data_error("ssl.ocsp is not supported; use ssl.crl with revocation lists in a file"));
  }
  if (is_server && options.key_store.location.empty()) {
    return std::unexpected(data_error("ssl.keyStore.location is not set: a TLS server needs a key"));
  }
  // Java would fall back to the public authorities here, and so accept everybody who owns a web site.
  if (is_server && options.client_auth != ClientAuth::kNone && options.trust_store.location.empty()) {
    return std::unexpected(
        data_error("ssl.trustStore.location is not set, but ssl.clientAuth asks for client certificates"));
  }
  return {};
}

IoResult<void> apply_protocols(SSL_CTX* context, const TlsOptions& options) {
  TRY_ASSIGN(const TlsSelection selection, select_protocols_and_ciphers(options));
  SSL_CTX_set_min_proto_version(context, selection.tls12 ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context, selection.tls13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  if (selection.tls12 && SSL_CTX_set_cipher_list(context, selection.tls12_ciphers.c_str()) != 1) {
    return std::unexpected(openssl_error("cannot use the cipher suites"));
  }
  if (selection.tls13 && SSL_CTX_set_ciphersuites(context, selection.tls13_ciphers.c_str()) != 1) {
    return std::unexpected(openssl_error("cannot use the cipher suites"));
  }
  return {};
}

void apply_modes(SSL_CTX* context) {
  // RELEASE_BUFFERS: an idle connection frees its 34 KB of buffers, and most connections are idle.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // Frames carry their own length, so a truncated stream (no close_notify) cannot be mistaken for complete
  // data.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // One recv for many records instead of two for each record.
  SSL_CTX_set_read_ahead(context, 1);
  // Sessions live long, and each full handshake checks the certificate again. A resumed TLS session would
  // miss a revocation, a new trust store, or a changed client address.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

// OpenSSL uses one key of each algorithm; as in Java, the rest of the store stays unused.
IoResult<void> apply_keys(SSL_CTX* context, const StoreOptions& options) {
  if (options.location.empty()) return {};
  TRY_ASSIGN(const KeyStore store, load_key_store(options));
  if (store.keys.empty()) return std::unexpected(data_error(options.location + ": no private key in it"));
  bool any = false;
  for (const PrivateKeyEntry& entry : store.keys) {
    STACK_OF(X509)* const chain = sk_X509_new_null();
    for (const X509Ptr& issuer : entry.chain) sk_X509_push(chain, issuer.get());
    any |= SSL_CTX_use_cert_and_key(context, entry.certificate.get(), entry.key.get(), chain, 0) == 1;
    sk_X509_free(chain);
  }
  if (!any) return std::unexpected(openssl_error(options.location + ": cannot use the private key"));
  ERR_clear_error();
  return {};
}

std::size_t add_revocation_lists(X509_STORE* trust, const KeyStore& store) {
  for (const CrlPtr& crl : store.revocation_lists) X509_STORE_add_crl(trust, crl.get());
  return store.revocation_lists.size();
}

IoResult<void> apply_revocation(X509_STORE* trust, const TlsOptions& options, std::size_t lists) {
  if (!options.crl) return {};
  if (!options.crl_location.empty()) {
    TRY_ASSIGN(const KeyStore store, load_key_store({.location = options.crl_location, .type = "PEM"}));
    lists += add_revocation_lists(trust, store);
  }
  if (lists == 0) {
    return std::unexpected(data_error(
        "ssl.crl is on, but there is no revocation list in the trust store (PEM) or ssl.crl.location; "
        "lists are not downloaded"));
  }
  X509_STORE_set_flags(trust, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  return {};
}

// Like Java's trust manager: every certificate in the store is a trust anchor, whether or not it is an
// authority or has an issuer. Of a key entry, the key's own certificate is one, but its chain is not.
IoResult<void> apply_trust(SSL_CTX* context, const TlsOptions& options) {
  X509_STORE* const trust = SSL_CTX_get_cert_store(context);
  X509_STORE_set_flags(trust, X509_V_FLAG_PARTIAL_CHAIN);
  if (options.trust_store.location.empty()) {
    if (options.role == TlsRole::kClient) SSL_CTX_set_default_verify_paths(context);
    return apply_revocation(trust, options, 0);
  }
  TRY_ASSIGN(const KeyStore store, load_key_store(options.trust_store));
  if (store.trusted.empty() && store.keys.empty()) {
    return std::unexpected(data_error(options.trust_store.location + ": no trusted certificate in it"));
  }
  const auto add = [&](X509* certificate) {
    X509_STORE_add_cert(trust, certificate);
    // Sent to clients, which choose their certificate by it.
    if (options.role == TlsRole::kServer) SSL_CTX_add_client_CA(context, certificate);
  };
  for (const X509Ptr& certificate : store.trusted) add(certificate.get());
  for (const PrivateKeyEntry& entry : store.keys) add(entry.certificate.get());
  return apply_revocation(trust, options, add_revocation_lists(trust, store));
}

int verify_mode(const TlsOptions& options) {
  if (options.role == TlsRole::kClient) return SSL_VERIFY_PEER;
  switch (options.client_auth) {
    case ClientAuth::kNone: return SSL_VERIFY_NONE;
    case ClientAuth::kWant: return SSL_VERIFY_PEER;
    case ClientAuth::kNeed: return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

}  // namespace

TlsContext::TlsContext(SslCtxPtr context, const TlsOptions& options)
    : context_(std::move(context)),
      role_(options.role),
      verifies_peer_name_(options.hostname_verification &&
                          (role_ == TlsRole::kClient || options.client_hostname_verification)),
      handshake_timeout_ms_(options.handshake_timeout_ms) {}

IoResult<std::shared_ptr<const TlsContext>> TlsContext::load(const TlsOptions& options) {
  TRY(refuse_impossible(options));
  const bool is_server = options.role == TlsRole::kServer;
  SslCtxPtr context(SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method()));
  if (!context) return std::unexpected(openssl_error("cannot create a TLS context"));
  apply_modes(context.get());
  TRY(apply_protocols(context.get(), options));
  TRY(apply_keys(context.get(), options.key_store));
  TRY(apply_trust(context.get(), options));
  SSL_CTX_set_verify(context.get(), verify_mode(options), nullptr);
  find_issuers_by_signature(context.get());
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(context), options));
}

}  // namespace drover::net
