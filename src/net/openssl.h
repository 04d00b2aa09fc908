// SPDX-License-Identifier: Apache-2.0
//
// Owning pointers for OpenSSL's objects, and its error queue as one line of text.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace drover::net {

template <auto kFree>
struct OpensslDeleter {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using SslCtxPtr = std::unique_ptr<SSL_CTX, OpensslDeleter<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpensslDeleter<SSL_free>>;
using BioPtr = std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>>;
using X509Ptr = std::unique_ptr<X509, OpensslDeleter<X509_free>>;
using CrlPtr = std::unique_ptr<X509_CRL, OpensslDeleter<X509_CRL_free>>;
using PkeyPtr = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;

// Returns the reason of the first error in this thread's queue ("certificate verify failed"), or "unknown
// reason", and clears the queue.
std::string take_openssl_error();

// `what: reason`
IoError openssl_error(std::string what);

}  // namespace drover::net
