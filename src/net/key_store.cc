// SPDX-License-Identifier: Apache-2.0
#include "net/key_store.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>

#include "net/descriptor.h"

namespace drover::net {
namespace {

enum class StoreType { kJks, kPkcs12, kPem };

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

IoResult<StoreType> type_of(const StoreOptions& options) {
  const std::string type = upper(options.type);
  const std::string name = upper(options.location);
  const auto is = [&](std::string_view property, std::string_view extension) {
    return type == property || (type.empty() && name.ends_with(extension));
  };
  if (is("JKS", ".JKS")) return StoreType::kJks;
  if (is("PKCS12", ".P12")) return StoreType::kPkcs12;
  if (is("PEM", ".PEM")) return StoreType::kPem;
  if (is("BCFKS", ".BCFKS")) {
    return std::unexpected(data_error("BCFKS is not supported; convert the store to PKCS12"));
  }
  return std::unexpected(data_error(type.empty() ? "the extension does not tell the type of the store"
                                                 : "unknown store type " + options.type));
}

// Editors and echo add newlines at the end; they are not part of the password.
IoResult<std::string> password_of(const StoreOptions& options) {
  if (options.password_path.empty()) return options.password;
  TRY_ASSIGN(std::string password, read_store_file(options.password_path));
  if (password.ends_with('\n')) password.pop_back();
  if (password.ends_with('\r')) password.pop_back();
  return password;
}

// Since Java 9 keytool writes PKCS#12 whatever the file's name is, and Java opens either format under either
// type. So the content, not the name, decides between the two binary formats.
IoResult<KeyStore> parse_store(StoreType type, std::string_view bytes, std::string_view password) {
  if (type == StoreType::kPem) return parse_pem(bytes, password);
  if (bytes.starts_with("\xFE\xED\xFE\xED")) return parse_jks(bytes, password);
  if (bytes.starts_with("\xCE\xCE\xCE\xCE")) {
    return std::unexpected(data_error("JCEKS is not supported; convert the store to PKCS12"));
  }
  if (bytes.starts_with('\x30')) return parse_pkcs12(bytes, password);
  return std::unexpected(data_error("neither a JKS nor a PKCS12 store"));
}

X509Ptr share(const X509Ptr& certificate) {
  X509_up_ref(certificate.get());
  return X509Ptr(certificate.get());
}

bool is_self_issued(X509* certificate) {
  return X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0;
}

}  // namespace

IoResult<std::string> read_store_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!file || ::fstat(file.fd(), &info) != 0) return std::unexpected(io_error(errno, "cannot open " + path));
  if (!S_ISREG(info.st_mode)) return std::unexpected(data_error(path + " is not a regular file"));
  if (info.st_size > static_cast<off_t>(kStoreBytesMax)) {
    return std::unexpected(data_error(path + " is too large for a key store"));
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.fd(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0) return std::unexpected(io_error(errno, "cannot read " + path));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

IoResult<KeyStore> load_key_store(const StoreOptions& options) {
  const auto named = [&](IoError error) {
    return std::unexpected(data_error(options.location + ": " + error.what));
  };
  auto type = type_of(options);
  if (!type) return named(type.error());
  TRY_ASSIGN(const std::string bytes, read_store_file(options.location));
  TRY_ASSIGN(std::string password, password_of(options));
  ERR_clear_error();
  auto store = parse_store(*type, bytes, password);
  OPENSSL_cleanse(password.data(), password.size());
  ERR_clear_error();
  if (!store) return named(store.error());
  return store;
}

IoResult<X509Ptr> parse_certificate(std::string_view der) {
  auto at = reinterpret_cast<const unsigned char*>(der.data());
  const auto end = at + der.size();
  X509Ptr certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  if (!certificate || at != end) return std::unexpected(openssl_error("bad certificate"));
  return certificate;
}

IoResult<PrivateKeyEntry> assemble_entry(PkeyPtr key, const std::vector<X509Ptr>& certificates) {
  const auto own = std::ranges::find_if(certificates, [&](const X509Ptr& certificate) {
    return X509_check_private_key(certificate.get(), key.get()) == 1;
  });
  ERR_clear_error();  // Each certificate of another key left a "mismatch" error.
  if (own == certificates.end()) return std::unexpected(data_error("a private key has no certificate"));

  PrivateKeyEntry entry{std::move(key), share(*own), {}};
  X509* last = own->get();
  // Two certificates may name each other as issuer, so the chain is limited to the number of certificates.
  while (!is_self_issued(last) && entry.chain.size() < certificates.size()) {
    const auto issuer = std::ranges::find_if(certificates, [&](const X509Ptr& candidate) {
      return candidate.get() != last && X509_check_issued(candidate.get(), last) == X509_V_OK;
    });
    if (issuer == certificates.end()) break;
    entry.chain.push_back(share(*issuer));
    last = issuer->get();
  }
  return entry;
}

}  // namespace drover::net
