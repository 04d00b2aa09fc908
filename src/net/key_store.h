// SPDX-License-Identifier: Apache-2.0
//
// Private keys and certificates from the files that ZooKeeper's users have: JKS, PKCS#12 and PEM.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/openssl.h"
#include "net/tls_options.h"

namespace drover::net {

// Nobody's certificates need more; a larger file is refused before it is read.
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

// Reads and opens the store. A missing extension or type, a wrong password or a damaged file is one line
// that names the file.
IoResult<KeyStore> load_key_store(const StoreOptions& options);
// The whole file, at most kStoreBytesMax.
IoResult<std::string> read_store_file(const std::string& path);

// The formats; errors do not name the file, which only load_key_store() knows.
IoResult<KeyStore> parse_jks(std::string_view bytes, std::string_view password);
IoResult<KeyStore> parse_pkcs12(std::string_view bytes, std::string_view password);
IoResult<KeyStore> parse_pem(std::string_view bytes, std::string_view password);

// Finds `key`'s own certificate among `certificates` and then the issuers as far as they are there.
IoResult<PrivateKeyEntry> assemble_entry(PkeyPtr key, const std::vector<X509Ptr>& certificates);
IoResult<X509Ptr> parse_certificate(std::string_view der);

}  // namespace drover::net
