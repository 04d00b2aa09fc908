// SPDX-License-Identifier: Apache-2.0
//
// Loads private keys and certificates from the file formats that ZooKeeper's users have: JKS, PKCS#12 and
// PEM.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/openssl.h"
#include "net/tls_options.h"

namespace drover::net {

// Real certificates need less; a larger file is rejected before it is read.
inline constexpr std::size_t kStoreBytesMax = 16 << 20;

struct PrivateKeyEntry {
  PkeyPtr key;
  X509Ptr certificate;
  std::vector<X509Ptr> chain;  // issuers, nearest first
};

struct KeyStore {
  std::vector<PrivateKeyEntry> keys;
  std::vector<X509Ptr> trusted;
  std::vector<CrlPtr> revocation_lists;  // PEM only
};

// Reads and opens the store. The error for a missing extension or type, a wrong password or a damaged file is
// one line that names the file.
IoResult<KeyStore> load_key_store(const StoreOptions& options);
// Reads the whole file, at most kStoreBytesMax.
IoResult<std::string> read_store_file(const std::string& path);

// Parsers for the formats. Their errors do not name the file, because only load_key_store() knows it.
IoResult<KeyStore> parse_jks(std::string_view bytes, std::string_view password);
IoResult<KeyStore> parse_pkcs12(std::string_view bytes, std::string_view password);
IoResult<KeyStore> parse_pem(std::string_view bytes, std::string_view password);

// Finds `key`'s own certificate in `certificates`, then its issuers as far as they are present.
IoResult<PrivateKeyEntry> assemble_entry(PkeyPtr key, const std::vector<X509Ptr>& certificates);
IoResult<X509Ptr> parse_certificate(std::string_view der);

}  // namespace drover::net
