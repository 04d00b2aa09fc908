// SPDX-License-Identifier: Apache-2.0
//
// Shared by all TLS connections of a port: our key, the trusted certificates, protocols and ciphers.
#pragma once

#include <memory>

#include "base/result.h"
#include "net/openssl.h"
#include "net/tls_options.h"

namespace drover::net {

// Immutable after loading, so any thread may start connections from it. Connections keep the context that
// they started with; a reload creates a new one (TlsContextHolder).
class TlsContext {
 public:
  // Errors are one line that names the wrong file or property, and never a password.
  static IoResult<std::shared_ptr<const TlsContext>> load(const TlsOptions& options);

  TlsRole role() const { return role_; }
  // True if the peer's certificate must name its host or address.
  bool verifies_peer_name() const { return verifies_peer_name_; }
  int handshake_timeout_ms() const { return handshake_timeout_ms_; }
  SSL_CTX* native() const { return context_.get(); }

 private:
  explicit TlsContext(SslCtxPtr context, const TlsOptions& options);

  SslCtxPtr context_;
  TlsRole role_;
  bool verifies_peer_name_;
  int handshake_timeout_ms_;
};

}  // namespace drover::net
