// SPDX-License-Identifier: Apache-2.0
#include "net/tls_issuer.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "net/openssl.h"

namespace drover::net {
namespace {

using VerificationPtr = std::unique_ptr<X509_STORE_CTX, OpensslDeleter<X509_STORE_CTX_free>>;

void free_certificates(STACK_OF(X509) * certificates) { sk_X509_pop_free(certificates, X509_free); }
using CertificatesPtr = std::unique_ptr<STACK_OF(X509), OpensslDeleter<free_certificates>>;

// OpenSSL's default requirements for a chain: RSA of 2048 bits, SHA-224.
constexpr int kSecurityBits = 112;

bool is_strongly_signed(X509* certificate, EVP_PKEY* signer) {
  int bits = 0;
  return X509_get_signature_info(certificate, nullptr, nullptr, &bits, nullptr) == 1 &&
         bits >= kSecurityBits && EVP_PKEY_get_security_bits(signer) >= kSecurityBits;
}

bool is_valid_now(const X509* certificate) {
  return X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0 &&
         X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0;
}

bool has_signed(X509* authority, X509* certificate) {
  EVP_PKEY* const key = X509_get0_pubkey(authority);
  return key != nullptr && X509_check_ca(authority) != 0 && is_valid_now(authority) &&
         is_strongly_signed(certificate, key) && X509_verify(certificate, key) == 1;
}

bool is_signed_by_a_trusted_authority(X509_STORE_CTX* verification, X509* certificate) {
  const CertificatesPtr named(X509_STORE_CTX_get1_certs(verification, X509_get_issuer_name(certificate)));
  for (int i = 0; i < sk_X509_num(named.get()); ++i) {
    if (has_signed(sk_X509_value(named.get(), i), certificate)) return true;
  }
  return false;
}

// Everything but the issuer: dates, purpose, strength of the key, and the peer's name.
bool verify_alone(X509_STORE_CTX* verification, X509* certificate) {
  const VerificationPtr alone(X509_STORE_CTX_new());
  const CertificatesPtr trusted(sk_X509_new_null());
  X509_up_ref(certificate);
  if (!alone || sk_X509_push(trusted.get(), certificate) == 0) {
    X509_free(certificate);
    return false;
  }
  const int ssl = SSL_get_ex_data_X509_STORE_CTX_idx();
  if (X509_STORE_CTX_init(alone.get(), nullptr, certificate, nullptr) != 1 ||
      X509_STORE_CTX_set_ex_data(alone.get(), ssl, X509_STORE_CTX_get_ex_data(verification, ssl)) != 1 ||
      X509_VERIFY_PARAM_set1(X509_STORE_CTX_get0_param(alone.get()),
                             X509_STORE_CTX_get0_param(verification)) != 1) {
    return false;
  }
  X509_STORE_CTX_set0_trusted_stack(alone.get(), trusted.get());
  X509_STORE_CTX_set_flags(alone.get(), X509_V_FLAG_PARTIAL_CHAIN);
  X509_STORE_CTX_set_verify_cb(alone.get(), X509_STORE_CTX_get_verify_cb(verification));
  const bool verified = X509_verify_cert(alone.get()) == 1;
  X509_STORE_CTX_set_error(verification, X509_STORE_CTX_get_error(alone.get()));
  return verified;
}

// Replaces OpenSSL's verification, and begins with it.
int verify(X509_STORE_CTX* verification, void*) {
  if (X509_verify_cert(verification) == 1) return 1;
  const int error = X509_STORE_CTX_get_error(verification);
  const bool misled =
      error == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT || error == X509_V_ERR_CERT_SIGNATURE_FAILURE;
  X509* const certificate = X509_STORE_CTX_get0_cert(verification);
  if (!misled || certificate == nullptr) return 0;
  // Whose revocation list would it be, when two authorities have one name?
  const unsigned long flags = X509_VERIFY_PARAM_get_flags(X509_STORE_CTX_get0_param(verification));
  if ((flags & X509_V_FLAG_CRL_CHECK) != 0) return 0;
  if (!is_signed_by_a_trusted_authority(verification, certificate)) return 0;
  ERR_clear_error();
  return verify_alone(verification, certificate) ? 1 : 0;
}

}  // namespace

void find_issuers_by_signature(SSL_CTX* context) {
  SSL_CTX_set_cert_verify_callback(context, &verify, nullptr);
}

}  // namespace drover::net
