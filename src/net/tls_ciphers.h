// SPDX-License-Identifier: Apache-2.0
//
// Converts the Java and IANA names of protocols and cipher suites to OpenSSL's.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "net/tls_options.h"

namespace drover::net {

// At least one of the two protocols is on, and has suites.
struct TlsSelection {
  bool tls12 = false;
  bool tls13 = false;
  std::string tls12_ciphers;  // for SSL_CTX_set_cipher_list()
  std::string tls13_ciphers;  // for SSL_CTX_set_ciphersuites()
};

IoResult<TlsSelection> select_protocols_and_ciphers(const TlsOptions& options);

}  // namespace drover::net
