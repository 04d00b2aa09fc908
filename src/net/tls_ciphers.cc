// SPDX-License-Identifier: Apache-2.0
#include "net/tls_ciphers.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <string_view>

namespace drover::net {
namespace {

// ZooKeeper's own default, strongest first: always forward secrecy, and CBC last, for old Java clients.
constexpr std::string_view kDefaultTls12 =
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:"
    "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:"
    "ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA";
constexpr std::string_view kDefaultTls13 =
    "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";

IoResult<void> enable(TlsSelection& selection, const std::string& protocol) {
  // Names that Java knows but has disabled, or that are not connection protocols.
  constexpr std::string_view kIgnored[] = {"SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1"};
  if (protocol == "TLSv1.2") {
    selection.tls12 = true;
  } else if (protocol == "TLSv1.3") {
    selection.tls13 = true;
  } else if (protocol == "TLS" || protocol == "Default") {
    selection.tls12 = selection.tls13 = true;
  } else if (std::ranges::find(kIgnored, protocol) == std::end(kIgnored)) {
    return std::unexpected(data_error("unknown TLS protocol " + protocol));
  }
  return {};
}

IoResult<void> select_protocols(TlsSelection& selection, const TlsOptions& options) {
  std::vector<std::string> wanted = options.enabled_protocols;
  if (wanted.empty()) wanted.push_back(options.protocol.empty() ? "TLS" : options.protocol);
  for (const std::string& protocol : wanted) TRY(enable(selection, protocol));
  if (!selection.tls12 && !selection.tls13) {
    return std::unexpected(
        data_error("neither TLSv1.2 nor TLSv1.3 is enabled; older protocols are not safe"));
  }
  return {};
}

void append_name(std::string& list, std::string_view name) {
  if (!list.empty()) list += ':';
  list += name;
}

// TLS 1.3 suites have no key exchange in their name ("TLS_AES_128_GCM_SHA256"), all others have "_WITH_".
IoResult<void> select_cipher(TlsSelection& selection, std::string suite) {
  if (suite == "TLS_EMPTY_RENEGOTIATION_INFO_SCSV") return {};  // A signal that OpenSSL sends by itself.
  if (suite.starts_with("SSL_")) suite.replace(0, 3, "TLS");    // Java's old names from SSL.
  const std::string_view name = OPENSSL_cipher_name(suite.c_str());
  if (name == "(NONE)") return std::unexpected(data_error("unknown or unsafe cipher suite " + suite));
  append_name(suite.contains("_WITH_") ? selection.tls12_ciphers : selection.tls13_ciphers, name);
  return {};
}

}  // namespace

IoResult<TlsSelection> select_protocols_and_ciphers(const TlsOptions& options) {
  TlsSelection selection;
  TRY(select_protocols(selection, options));
  if (options.cipher_suites.empty()) {
    selection.tls12_ciphers = kDefaultTls12;
    selection.tls13_ciphers = kDefaultTls13;
    return selection;
  }
  for (const std::string& suite : options.cipher_suites) TRY(select_cipher(selection, suite));
  // A protocol without suites would fail every handshake; if it is off, the peers agree on the other one.
  selection.tls12 = selection.tls12 && !selection.tls12_ciphers.empty();
  selection.tls13 = selection.tls13 && !selection.tls13_ciphers.empty();
  if (!selection.tls12 && !selection.tls13) {
    return std::unexpected(data_error("no cipher suite fits the enabled TLS protocols"));
  }
  return selection;
}

}  // namespace drover::net
