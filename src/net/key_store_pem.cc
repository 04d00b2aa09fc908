// SPDX-License-Identifier: Apache-2.0
//
// PEM stores: one file with a private key and its certificates in any order (key store), or certificates
// one after the other, and revocation lists (trust store).
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "net/key_store.h"

namespace drover::net {
namespace {

struct Block {
  std::string name;    // between the dashes: "CERTIFICATE"
  std::string header;  // only for a key in OpenSSL's old encrypted form
  std::string der;
};

int give_password(char* into, int size, int, void* password_view) {
  const auto password = *static_cast<const std::string_view*>(password_view);
  if (password.size() > static_cast<std::size_t>(size)) return -1;
  std::memcpy(into, password.data(), password.size());
  return static_cast<int>(password.size());
}

// Returns nothing at the end of the file; skips text between the blocks.
IoResult<std::optional<Block>> next_block(BIO* bio) {
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long length = 0;
  ERR_clear_error();
  if (PEM_read_bio(bio, &name, &header, &data, &length) != 1) {
    if (ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) return std::nullopt;
    return std::unexpected(openssl_error("bad PEM"));
  }
  Block block{name, header, std::string(reinterpret_cast<char*>(data), static_cast<std::size_t>(length))};
  OPENSSL_free(name);
  OPENSSL_free(header);
  OPENSSL_clear_free(data, static_cast<std::size_t>(length));
  return block;
}

IoResult<PkeyPtr> pkcs8_key(const Block& block, std::string_view password) {
  auto at = reinterpret_cast<const unsigned char*>(block.der.data());
  const std::unique_ptr<X509_SIG, OpensslDeleter<X509_SIG_free>> sealed(
      d2i_X509_SIG(nullptr, &at, static_cast<long>(block.der.size())));
  if (!sealed) return std::unexpected(openssl_error("bad private key"));
  const std::unique_ptr<PKCS8_PRIV_KEY_INFO, OpensslDeleter<PKCS8_PRIV_KEY_INFO_free>> info(
      PKCS8_decrypt(sealed.get(), password.data(), static_cast<int>(password.size())));
  PkeyPtr key(info ? EVP_PKCS82PKEY(info.get()) : nullptr);
  if (!key) return std::unexpected(openssl_error("cannot decrypt the private key, is the password right?"));
  return key;
}

IoResult<PkeyPtr> plain_key(Block& block, std::string_view password) {
  EVP_CIPHER_INFO cipher{};
  long length = static_cast<long>(block.der.size());
  auto* data = reinterpret_cast<unsigned char*>(block.der.data());
  if (PEM_get_EVP_CIPHER_INFO(block.header.data(), &cipher) != 1 ||
      PEM_do_header(&cipher, data, &length, give_password, &password) != 1) {
    return std::unexpected(openssl_error("cannot decrypt the private key, is the password right?"));
  }
  const unsigned char* at = data;
  PkeyPtr key(d2i_AutoPrivateKey(nullptr, &at, length));
  if (!key) return std::unexpected(openssl_error("bad private key"));
  return key;
}

IoResult<CrlPtr> revocation_list(const Block& block) {
  auto at = reinterpret_cast<const unsigned char*>(block.der.data());
  CrlPtr crl(d2i_X509_CRL(nullptr, &at, static_cast<long>(block.der.size())));
  if (!crl) return std::unexpected(openssl_error("bad revocation list"));
  return crl;
}

struct PemContents {
  std::vector<PkeyPtr> keys;
  std::vector<X509Ptr> certificates;
  std::vector<CrlPtr> revocation_lists;
};

IoResult<void> add_block(PemContents& contents, Block& block, std::string_view password) {
  if (block.name == PEM_STRING_X509 || block.name == PEM_STRING_X509_OLD) {
    TRY_ASSIGN(auto certificate, parse_certificate(block.der));
    contents.certificates.push_back(std::move(certificate));
  } else if (block.name == PEM_STRING_X509_CRL) {
    TRY_ASSIGN(auto crl, revocation_list(block));
    contents.revocation_lists.push_back(std::move(crl));
  } else if (block.name == PEM_STRING_PKCS8) {
    TRY_ASSIGN(auto key, pkcs8_key(block, password));
    contents.keys.push_back(std::move(key));
  } else if (block.name.ends_with("PRIVATE KEY")) {
    TRY_ASSIGN(auto key, plain_key(block, password));
    contents.keys.push_back(std::move(key));
  }
  return {};  // Curve parameters and the like add nothing to the key.
}

}  // namespace

IoResult<KeyStore> parse_pem(std::string_view bytes, std::string_view password) {
  const BioPtr bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
  if (!bio) return std::unexpected(openssl_error("cannot read PEM"));
  PemContents contents;
  while (true) {
    TRY_ASSIGN(auto block, next_block(bio.get()));
    if (!block) break;
    const auto added = add_block(contents, *block, password);
    OPENSSL_cleanse(block->der.data(), block->der.size());
    TRY(added);
  }
  KeyStore store;
  for (PkeyPtr& key : contents.keys) {
    TRY_ASSIGN(auto entry, assemble_entry(std::move(key), contents.certificates));
    store.keys.push_back(std::move(entry));
  }
  store.trusted = std::move(contents.certificates);
  store.revocation_lists = std::move(contents.revocation_lists);
  return store;
}

}  // namespace drover::net
