// SPDX-License-Identifier: Apache-2.0
//
// For the TLS tests: keys, certificates and stores created on the spot, and two ends of a connection in one
// thread. Needs neither a JDK nor files in the tree.
#pragma once

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "net/key_store_jks.h"
#include "net/openssl.h"
#include "net/stream.h"
#include "net/tls_context.h"
#include "wire/jute.h"

namespace drover::net::testing {

inline constexpr std::string_view kPassword = "s3cret-p\xC3\xA4ss";

struct Identity {
  PkeyPtr key;
  X509Ptr certificate;
};

struct IdentityOptions {
  std::string common_name;
  const Identity* issuer = nullptr;  // null: self-signed
  std::string alt_names = {};        // "DNS:localhost,IP:127.0.0.1"
  bool is_authority = false;
  bool rsa = false;
  bool version_1 = false;  // has no extensions
  bool sha1 = false;
  long valid_for_s = 3600;
};

inline void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  ASSERT_NE(extension, nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

inline Identity make_identity(const IdentityOptions& options) {
  static long serial = 1;
  Identity made{PkeyPtr(options.rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256")), X509Ptr(X509_new())};
  X509* const x = made.certificate.get();
  X509_set_version(x, options.version_1 ? X509_VERSION_1 : X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
  X509_gmtime_adj(X509_getm_notBefore(x), options.valid_for_s < 0 ? 2 * options.valid_for_s : -60);
  X509_gmtime_adj(X509_getm_notAfter(x), options.valid_for_s);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(options.common_name.c_str()), -1, -1, 0);
  X509* const issuer = options.issuer == nullptr ? x : options.issuer->certificate.get();
  X509_set_issuer_name(x, X509_get_subject_name(issuer));
  X509_set_pubkey(x, made.key.get());
  if (options.is_authority) add_extension(x, issuer, NID_basic_constraints, "critical,CA:TRUE");
  if (!options.alt_names.empty()) add_extension(x, issuer, NID_subject_alt_name, options.alt_names);
  X509_sign(x, options.issuer == nullptr ? made.key.get() : options.issuer->key.get(),
            options.sha1 ? EVP_sha1() : EVP_sha256());
  return made;
}

inline std::string contents_of(BIO* bio) {
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(length)};
}

inline std::string pem_of(const X509Ptr& certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate.get());
  return contents_of(bio.get());
}

inline std::string pem_of(const PkeyPtr& key, std::string_view password = {}) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), password.empty() ? nullptr : EVP_aes_256_cbc(),
                                password.data(), static_cast<int>(password.size()), nullptr, nullptr);
  return contents_of(bio.get());
}

// A key store with `identity`, or with `others` only if `identity` is null.
inline std::string pkcs12_of(const Identity* identity, const std::vector<const Identity*>& others,
                             std::string_view password = kPassword) {
  STACK_OF(X509)* const chain = sk_X509_new_null();
  for (const Identity* other : others) sk_X509_push(chain, other->certificate.get());
  PKCS12* const store =
      PKCS12_create(std::string(password).c_str(), "drover", identity ? identity->key.get() : nullptr,
                    identity ? identity->certificate.get() : nullptr, chain, 0, 0, 1000, 1000, 0);
  const BioPtr bio(BIO_new(BIO_s_mem()));
  i2d_PKCS12_bio(bio.get(), store);
  PKCS12_free(store);
  sk_X509_free(chain);
  return contents_of(bio.get());
}

inline std::string der_of(const X509Ptr& certificate) {
  unsigned char* der = nullptr;
  const int length = i2d_X509(certificate.get(), &der);
  std::string result(reinterpret_cast<char*>(der), static_cast<std::size_t>(length));
  OPENSSL_free(der);
  return result;
}

// Writes JKS as keytool does.
class JksWriter {
 public:
  explicit JksWriter(std::int32_t version = 2, std::string_view password = kPassword)
      : version_(version), password_(jks_password(password)) {}

  JksWriter& trust(const X509Ptr& certificate) {
    begin_entry(2);
    write_certificate(certificate);
    return *this;
  }

  JksWriter& key(const Identity& identity, const std::vector<const Identity*>& chain = {}) {
    begin_entry(1);
    out_.string(seal(identity.key));
    out_.i32(static_cast<std::int32_t>(1 + chain.size()));
    write_certificate(identity.certificate);
    for (const Identity* issuer : chain) write_certificate(issuer->certificate);
    return *this;
  }

  std::string bytes() const {
    std::string body;
    wire::Writer header(body);
    header.i32(static_cast<std::int32_t>(0xFEEDFEED));
    header.i32(version_);
    header.i32(count_);
    body += entries_;
    return body + jks_digest(body, password_);
  }

 private:
  void utf(std::string_view text) {
    out_.byte(static_cast<std::uint8_t>(text.size() >> 8));
    out_.byte(static_cast<std::uint8_t>(text.size()));
    out_.raw(text);
  }
  void begin_entry(std::int32_t tag) {
    out_.i32(tag);
    utf("alias" + std::to_string(++count_));
    out_.i64(1'600'000'000'000);
  }
  void write_certificate(const X509Ptr& certificate) {
    if (version_ == 2) utf("X.509");
    out_.string(der_of(certificate));
  }

  static std::string sha1(const std::string& bytes) {
    std::string digest(20, '\0');
    EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
               EVP_sha1(), nullptr);
    return digest;
  }
  static std::string tlv(char tag, const std::string& content) {
    std::string out{tag, '\x82', static_cast<char>(content.size() >> 8), static_cast<char>(content.size())};
    return out + content;
  }
  std::string seal(const PkeyPtr& key) const {
    PKCS8_PRIV_KEY_INFO* const info = EVP_PKEY2PKCS8(key.get());
    unsigned char* der = nullptr;
    const int length = i2d_PKCS8_PRIV_KEY_INFO(info, &der);
    const std::string plain(reinterpret_cast<char*>(der), static_cast<std::size_t>(length));
    OPENSSL_free(der);
    PKCS8_PRIV_KEY_INFO_free(info);

    const std::string salt(20, 'S');
    std::string sealed = salt;
    std::string block = salt;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (i % 20 == 0) block = sha1(password_ + block);
      sealed += static_cast<char>(plain[i] ^ block[i % 20]);
    }
    sealed += sha1(password_ + plain);
    const std::string algorithm("\x30\x0e\x06\x0a\x2b\x06\x01\x04\x01\x2a\x02\x11\x01\x01\x05\x00", 16);
    return tlv('\x30', algorithm + tlv('\x04', sealed));
  }

  std::int32_t version_;
  std::string password_;
  std::int32_t count_ = 0;
  std::string entries_;
  wire::Writer out_{entries_};
};

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "drover-net-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  // Replaces by rename, as careful administrators do.
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path("new"), std::ios::binary) << bytes;
    std::filesystem::rename(path("new"), path(name));
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

struct StreamPair {
  Stream server;
  Stream client;
};

inline StreamPair connected_pair() {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  return {Stream(Socket(fds[0])), Stream(Socket(fds[1]))};
}

using ContextPtr = std::shared_ptr<const TlsContext>;

// Runs both sides in turn until both are done or one has failed; then once more, so that the other side
// notices.
inline bool shake_hands(StreamPair& pair) {
  constexpr int kTurns = 20;
  for (int i = 0; i < kTurns; ++i) {
    const IoStatus client = pair.client.handshake();
    const IoStatus server = pair.server.handshake();
    if (client == IoStatus::kOk && server == IoStatus::kOk) return true;
    if (server == IoStatus::kError || server == IoStatus::kClosed) return false;
    if (client == IoStatus::kError || client == IoStatus::kClosed)
      return (void)pair.server.handshake(), false;
  }
  return false;
}

inline StreamPair tls_pair(const ContextPtr& server, const ContextPtr& client,
                           const TlsPeer& as_client_sees = {}, const TlsPeer& as_server_sees = {}) {
  StreamPair pair = connected_pair();
  EXPECT_TRUE(pair.server.start_tls(server, as_server_sees));
  EXPECT_TRUE(pair.client.start_tls(client, as_client_sees));
  return pair;
}

inline std::string receive(Stream& stream) {
  char buffer[4096];
  const IoCount got = stream.read(buffer, sizeof buffer);
  return got.status == IoStatus::kOk ? std::string(buffer, got.bytes) : std::string{};
}

}  // namespace drover::net::testing
