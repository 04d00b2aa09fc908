// SPDX-License-Identifier: Apache-2.0
//
// The TLS half of a Stream: one connection's SSL object and the state that a level-triggered loop needs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/openssl.h"
#include "net/stream.h"
#include "net/tls_context.h"

namespace drover::net {

// Owned by a Stream, which owns the descriptor and outlives it. Not movable: OpenSSL's callbacks point to it.
class TlsSession {
 public:
  static IoResult<std::unique_ptr<TlsSession>> start(int fd, std::shared_ptr<const TlsContext> context,
                                                     const TlsPeer& peer);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  IoStatus handshake();
  IoCount read(char* into, std::size_t n);
  IoCount write(std::string_view bytes);
  std::uint32_t events_for(Interest interest) const;
  bool has_buffered() const;
  void send_close_notify();

  const std::string& error_text() const { return error_text_; }
  std::optional<std::string> peer_subject() const;
  bool peer_certificate_names(const std::string& host) const;
  std::string version() const { return established_ ? SSL_get_version(ssl_.get()) : ""; }
  std::string cipher() const;

 private:
  TlsSession(SslPtr ssl, std::shared_ptr<const TlsContext> context, const TlsPeer& peer)
      : ssl_(std::move(ssl)), context_(std::move(context)), peer_(peer) {}
  static int verify_peer(int chain_ok, X509_STORE_CTX* verification);
  // Interprets the `result` of a call: kAgain (and sets `wants`), or the end, which is stored in `end_`.
  IoStatus judge(int result, std::uint32_t& wants);
  void describe_failure(int ssl_error, int errno_value);

  SslPtr ssl_;
  std::shared_ptr<const TlsContext> context_;
  TlsPeer peer_;
  bool established_ = false;
  bool drained_ = true;              // no decryptable bytes are left in memory
  IoStatus end_ = IoStatus::kAgain;  // kClosed or kError once the session has ended
  std::uint32_t handshake_wants_ = 0;
  std::uint32_t read_wants_ = 0;
  std::uint32_t write_wants_ = 0;
  std::string error_text_;
};

}  // namespace drover::net
