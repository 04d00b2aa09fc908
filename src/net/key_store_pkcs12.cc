// SPDX-License-Identifier: Apache-2.0
//
// PKCS#12 stores as keytool and openssl write them.
//
// PKCS12_parse() is not enough: it supports one key only, and cannot distinguish a certificate that Java
// marks as trusted from one that only completes a key's chain. If we trusted the latter, everybody with a
// certificate from that authority could connect.
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>

#include <utility>

#include "net/key_store.h"

namespace drover::net {
namespace {

// Oracle's "trustedKeyUsage", which keytool puts on trusted certificates.
constexpr std::string_view kTrustedKeyUsageOid = "2.16.840.1.113894.746875.1.1";

using LibraryPtr = std::unique_ptr<OSSL_LIB_CTX, OpensslDeleter<OSSL_LIB_CTX_free>>;
using ProviderPtr = std::unique_ptr<OSSL_PROVIDER, OpensslDeleter<OSSL_PROVIDER_unload>>;
using Pkcs12Ptr = std::unique_ptr<PKCS12, OpensslDeleter<PKCS12_free>>;
using Pkcs8Ptr = std::unique_ptr<PKCS8_PRIV_KEY_INFO, OpensslDeleter<PKCS8_PRIV_KEY_INFO_free>>;

void free_safes(STACK_OF(PKCS7) * safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }
void free_bags(STACK_OF(PKCS12_SAFEBAG) * bags) { sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free); }
using SafesPtr = std::unique_ptr<STACK_OF(PKCS7), OpensslDeleter<free_safes>>;
using BagsPtr = std::unique_ptr<STACK_OF(PKCS12_SAFEBAG), OpensslDeleter<free_bags>>;

// Stores from before Java 8u301 encrypt their certificates with 40-bit RC2, which is in OpenSSL's legacy
// provider. That provider gets its own library context, because the TLS of this process must not offer old
// ciphers.
struct Library {
  LibraryPtr context{OSSL_LIB_CTX_new()};
  ProviderPtr standard{OSSL_PROVIDER_load(context.get(), "default")};
  ProviderPtr legacy{OSSL_PROVIDER_load(context.get(), "legacy")};
};

struct StoreContents {
  std::vector<PkeyPtr> keys;
  std::vector<X509Ptr> certificates;
  std::vector<X509Ptr> trusted;
};

class Parser {
 public:
  explicit Parser(std::string_view password) : password_(password) {}

  IoResult<StoreContents> parse(std::string_view bytes) {
    TRY_ASSIGN(const Pkcs12Ptr store, decode(bytes));
    if (PKCS12_mac_present(store.get()) == 1 &&
        PKCS12_verify_mac(store.get(), password_.data(), length()) != 1) {
      return std::unexpected(data_error("wrong password, or the store was changed without it"));
    }
    const SafesPtr safes(PKCS12_unpack_authsafes(store.get()));
    if (!safes) return std::unexpected(openssl_error("damaged PKCS12 store"));
    for (int i = 0; i < sk_PKCS7_num(safes.get()); ++i) TRY(add_safe(sk_PKCS7_value(safes.get(), i)));
    return std::move(contents_);
  }

 private:
  int length() const { return static_cast<int>(password_.size()); }

  IoResult<Pkcs12Ptr> decode(std::string_view bytes) {
    PKCS12* raw = PKCS12_init_ex(NID_pkcs7_data, library_.context.get(), nullptr);
    auto at = reinterpret_cast<const unsigned char*>(bytes.data());
    const bool decoded = d2i_PKCS12(&raw, &at, static_cast<long>(bytes.size())) != nullptr;
    Pkcs12Ptr store(raw);
    if (!decoded) return std::unexpected(openssl_error("not a PKCS12 store"));
    return store;
  }

  IoResult<void> add_safe(PKCS7* safe) {
    const int kind = OBJ_obj2nid(safe->type);
    if (kind != NID_pkcs7_data && kind != NID_pkcs7_encrypted) return {};
    const BagsPtr bags(kind == NID_pkcs7_data ? PKCS12_unpack_p7data(safe)
                                              : PKCS12_unpack_p7encdata(safe, password_.data(), length()));
    if (!bags) return std::unexpected(openssl_error("cannot decrypt the store, is the password right?"));
    for (int i = 0; i < sk_PKCS12_SAFEBAG_num(bags.get()); ++i) {
      TRY(add_bag(sk_PKCS12_SAFEBAG_value(bags.get(), i)));
    }
    return {};
  }

  IoResult<void> add_bag(const PKCS12_SAFEBAG* bag) {
    switch (PKCS12_SAFEBAG_get_nid(bag)) {
      case NID_keyBag: return add_key(PKCS12_SAFEBAG_get0_p8inf(bag));
      case NID_pkcs8ShroudedKeyBag: {
        const Pkcs8Ptr key(
            PKCS12_decrypt_skey_ex(bag, password_.data(), length(), library_.context.get(), nullptr));
        return add_key(key.get());
      }
      case NID_certBag: return add_certificate(bag);
      default: return {};  // Revocation lists, secrets and bags of bags: no Java store has them.
    }
  }

  IoResult<void> add_key(const PKCS8_PRIV_KEY_INFO* info) {
    PkeyPtr key(info == nullptr ? nullptr : EVP_PKCS82PKEY(info));
    if (!key) return std::unexpected(openssl_error("cannot decrypt the private key, is the password right?"));
    contents_.keys.push_back(std::move(key));
    return {};
  }

  IoResult<void> add_certificate(const PKCS12_SAFEBAG* bag) {
    if (PKCS12_SAFEBAG_get_bag_nid(bag) != NID_x509Certificate) return {};
    X509Ptr certificate(PKCS12_SAFEBAG_get1_cert(bag));
    if (!certificate) return std::unexpected(openssl_error("bad certificate"));
    (is_marked_trusted(bag) ? contents_.trusted : contents_.certificates).push_back(std::move(certificate));
    return {};
  }

  static bool is_marked_trusted(const PKCS12_SAFEBAG* bag) {
    const STACK_OF(X509_ATTRIBUTE)* const attributes = PKCS12_SAFEBAG_get0_attrs(bag);
    for (int i = 0; i < sk_X509_ATTRIBUTE_num(attributes); ++i) {
      char oid[80];
      OBJ_obj2txt(oid, sizeof oid, X509_ATTRIBUTE_get0_object(sk_X509_ATTRIBUTE_value(attributes, i)), 1);
      if (oid == kTrustedKeyUsageOid) return true;
    }
    return false;
  }

  Library library_;
  std::string password_;  // with the terminating zero that OpenSSL wants for an empty password
  StoreContents contents_;
};

}  // namespace

IoResult<KeyStore> parse_pkcs12(std::string_view bytes, std::string_view password) {
  TRY_ASSIGN(StoreContents contents, Parser(password).parse(bytes));
  KeyStore store;
  for (PkeyPtr& key : contents.keys) {
    TRY_ASSIGN(auto entry, assemble_entry(std::move(key), contents.certificates));
    store.keys.push_back(std::move(entry));
  }
  store.trusted = std::move(contents.trusted);
  // `openssl pkcs12 -nokeys` does not set the trust mark. A store with certificates only can only be a trust
  // store.
  if (store.keys.empty() && store.trusted.empty()) store.trusted = std::move(contents.certificates);
  return store;
}

}  // namespace drover::net
