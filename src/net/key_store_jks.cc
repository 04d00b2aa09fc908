// SPDX-License-Identifier: Apache-2.0
#include "net/key_store_jks.h"

#include <openssl/crypto.h>
#include <openssl/objects.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <initializer_list>

#include "base/utf8.h"
#include "net/key_store.h"
#include "wire/jute.h"

namespace drover::net {
namespace {

constexpr std::uint32_t kMagic = 0xFEEDFEED;
constexpr std::int32_t kKeyTag = 1;
constexpr std::int32_t kTrustedTag = 2;
constexpr std::string_view kKeyProtectorOid = "1.3.6.1.4.1.42.2.17.1.1";
static_assert(kJksDigestBytes == SHA_DIGEST_LENGTH);

// The JKS format requires SHA-1, and such files exist; no other code here relies on SHA-1.
std::string sha1(std::initializer_list<std::string_view> parts) {
  const std::unique_ptr<EVP_MD_CTX, OpensslDeleter<EVP_MD_CTX_free>> context(EVP_MD_CTX_new());
  std::string digest(SHA_DIGEST_LENGTH, '\0');
  EVP_DigestInit_ex(context.get(), EVP_sha1(), nullptr);
  for (const std::string_view part : parts) EVP_DigestUpdate(context.get(), part.data(), part.size());
  EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  return digest;
}

// Java's DataInput.readUTF: a 16-bit length. The content does not matter here.
std::string_view read_utf(wire::Reader& in) {
  const std::size_t length = in.byte() * std::size_t{256} + in.byte();
  const std::size_t start = in.position();
  for (std::size_t i = 0; i < length && in.ok(); ++i) in.byte();
  return in.ok() ? in.since(start) : std::string_view{};
}

std::string_view read_certificate(wire::Reader& in, std::int32_t version) {
  if (version == 2 && read_utf(in) != "X.509") in.fail();
  return in.string();
}

JksEntry read_entry(wire::Reader& in, std::int32_t version) {
  JksEntry entry;
  const std::int32_t tag = in.i32();
  read_utf(in);  // alias
  in.i64();      // date
  if (tag == kTrustedTag) {
    entry.certificates.push_back(read_certificate(in, version));
    return entry;
  }
  if (tag != kKeyTag) in.fail();
  entry.sealed_key = in.string();
  if (entry.sealed_key.empty()) in.fail();
  for (std::int32_t left = in.i32(); left > 0 && in.ok(); --left) {
    entry.certificates.push_back(read_certificate(in, version));
  }
  return entry;
}

// The protected key consists of salt, key XOR keystream, and a digest that verifies the password. The
// keystream is a chain of digests, each over the password and the previous digest; the first is over the
// salt.
IoResult<std::string> unprotect(std::string_view sealed, std::string_view password) {
  constexpr std::size_t n = SHA_DIGEST_LENGTH;
  if (sealed.size() <= 2 * n) return std::unexpected(data_error("bad private key: too short"));
  std::string key(sealed.substr(n, sealed.size() - 2 * n));
  std::string block(sealed.substr(0, n));
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (i % n == 0) block = sha1({password, block});
    key[i] = static_cast<char>(key[i] ^ block[i % n]);
  }
  if (sha1({password, key}) != sealed.substr(sealed.size() - n)) {
    return std::unexpected(data_error("cannot decrypt the private key, is the password right?"));
  }
  return key;
}

std::string oid_text(const ASN1_OBJECT* object) {
  char text[80];
  OBJ_obj2txt(text, sizeof text, object, 1);
  return text;
}

IoResult<PkeyPtr> open_key(std::string_view sealed_der, std::string_view password) {
  auto at = reinterpret_cast<const unsigned char*>(sealed_der.data());
  const std::unique_ptr<X509_SIG, OpensslDeleter<X509_SIG_free>> sealed(
      d2i_X509_SIG(nullptr, &at, static_cast<long>(sealed_der.size())));
  if (!sealed) return std::unexpected(openssl_error("bad private key"));
  const X509_ALGOR* algorithm = nullptr;
  const ASN1_OCTET_STRING* content = nullptr;
  X509_SIG_get0(sealed.get(), &algorithm, &content);
  const std::string oid = oid_text(algorithm->algorithm);
  if (oid != kKeyProtectorOid)
    return std::unexpected(data_error("unknown encryption of the private key: " + oid));

  TRY_ASSIGN(std::string plain, unprotect({reinterpret_cast<const char*>(ASN1_STRING_get0_data(content)),
                                           static_cast<std::size_t>(ASN1_STRING_length(content))},
                                          password));
  auto plain_at = reinterpret_cast<const unsigned char*>(plain.data());
  PkeyPtr key(d2i_AutoPrivateKey(nullptr, &plain_at, static_cast<long>(plain.size())));
  OPENSSL_cleanse(plain.data(), plain.size());
  if (!key) return std::unexpected(openssl_error("bad private key"));
  return key;
}

IoResult<void> add_entry(KeyStore& store, const JksEntry& entry, std::string_view password) {
  std::vector<X509Ptr> certificates;
  for (const std::string_view der : entry.certificates) {
    TRY_ASSIGN(auto certificate, parse_certificate(der));
    certificates.push_back(std::move(certificate));
  }
  if (entry.sealed_key.empty()) {
    store.trusted.push_back(std::move(certificates.front()));
    return {};
  }
  TRY_ASSIGN(auto key, open_key(entry.sealed_key, password));
  TRY_ASSIGN(auto assembled, assemble_entry(std::move(key), certificates));
  store.keys.push_back(std::move(assembled));
  return {};
}

void append_utf16_unit(std::string& out, std::uint32_t unit) {
  out += static_cast<char>(unit >> 8);
  out += static_cast<char>(unit);
}

}  // namespace

IoResult<std::vector<JksEntry>> read_jks_entries(std::string_view body) {
  wire::Reader in(body);
  const auto magic = static_cast<std::uint32_t>(in.i32());
  const std::int32_t version = in.i32();
  if (!in.ok() || magic != kMagic) return std::unexpected(data_error("not a JKS store"));
  if (version != 1 && version != 2) {
    return std::unexpected(data_error("JKS version " + std::to_string(version) + " is not known"));
  }
  std::vector<JksEntry> entries;
  // The count cannot be trusted: memory grows only with the entries that are really there.
  for (std::int32_t left = in.i32(); left > 0 && in.ok(); --left) entries.push_back(read_entry(in, version));
  if (!in.ok() || !in.at_end()) return std::unexpected(data_error("damaged JKS store"));
  return entries;
}

std::string jks_digest(std::string_view body, std::string_view password_utf16) {
  return sha1({password_utf16, "Mighty Aphrodite", body});
}

std::string jks_password(std::string_view utf8) {
  std::string out;
  while (!utf8.empty()) {
    const DecodedChar decoded = decode_utf8(utf8);
    utf8.remove_prefix(decoded.length);
    if (decoded.code_point < 0x10000) {
      append_utf16_unit(out, decoded.code_point);
    } else {
      append_utf16_unit(out, 0xD800 + ((decoded.code_point - 0x10000) >> 10));
      append_utf16_unit(out, 0xDC00 + (decoded.code_point & 0x3FF));
    }
  }
  return out;
}

IoResult<KeyStore> parse_jks(std::string_view bytes, std::string_view password) {
  if (bytes.size() < kJksDigestBytes) return std::unexpected(data_error("not a JKS store"));
  const std::string_view body = bytes.substr(0, bytes.size() - kJksDigestBytes);
  const std::string secret = jks_password(password);
  TRY_ASSIGN(const auto entries, read_jks_entries(body));
  if (jks_digest(body, secret) != bytes.substr(body.size())) {
    return std::unexpected(data_error("wrong password, or the store was changed without it"));
  }
  KeyStore store;
  for (const JksEntry& entry : entries) TRY(add_entry(store, entry, secret));
  return store;
}

}  // namespace drover::net
