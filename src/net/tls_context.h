// SPDX-License-Identifier: Apache-2.0
//
// What all TLS connections of one port share: our key, whom we trust, protocols and ciphers.
#pragma once

#include <memory>

#include "base/result.h"
#include "net/openssl.h"
#include "net/tls_options.h"

namespace drover::net {

// Loaded once, then never changed, so that any thread may start connections from it. Connections keep
// the context they began with; a reload makes a new one (TlsContextHolder).
class TlsContext {
 public:
  // Errors are one line that names the file or property at fault, and never a password.
  static IoResult<std::shared_ptr<const TlsContext>> load(const TlsOptions& options);

  TlsRole role() const { return role_; }
  // Must the peer's certificate name its host or address?
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
