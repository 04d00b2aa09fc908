// SPDX-License-Identifier: Apache-2.0
//
// Sun's JKS file, parsed in two steps: first its structure, which needs no password and is all that a hostile
// file can attack; then (parse_jks in net/key_store.h) the part that needs the password.
//
//   feedfeed  version  count  entry...  SHA-1(password, "Mighty Aphrodite", everything before)
//   entry:    1 alias date  length sealed-key  count certificate...       a private key and its chain
//             2 alias date  certificate                                   trusted
//   certificate, in version 2:  "X.509" length DER      in version 1:  length DER
//
// Integers are big-endian 32 bits, dates 64; alias and type have a 16-bit length. (Upstream: the JDK's
// sun.security.provider.JavaKeyStore and KeyProtector.)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::net {

inline constexpr std::size_t kJksDigestBytes = 20;

struct JksEntry {
  std::string_view sealed_key;  // empty for a trusted certificate
  std::vector<std::string_view> certificates;
};

// `body` is the file without the digest at its end. Views point into it.
IoResult<std::vector<JksEntry>> read_jks_entries(std::string_view body);

// jks_digest() computes the digest at the end of a store with this body and password. jks_password() converts
// a password to the bytes that JKS uses: UTF-16, high byte first.
std::string jks_digest(std::string_view body, std::string_view password_utf16);
std::string jks_password(std::string_view utf8);

}  // namespace drover::net
