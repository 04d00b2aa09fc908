// SPDX-License-Identifier: Apache-2.0
#include "net/tls_session.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/epoll.h>

#include <cerrno>

#include "base/result.h"
#include "net/distinguished_name.h"
#include "net/tls_bio.h"

namespace drover::net {
namespace {

// SAN iPAddress. As in ZooKeeper, a certificate without any SAN may have the address in its CN.
bool names_address(X509* certificate, const Address& address) {
  const std::string_view ip = address.ip_bytes();
  if (X509_check_ip(certificate, reinterpret_cast<const unsigned char*>(ip.data()), ip.size(), 0) == 1) {
    return true;
  }
  if (X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1) >= 0) return false;
  const std::string text = address.ip_text();
  return X509_check_host(certificate, text.data(), text.size(), 0, nullptr) == 1;
}

// SAN dNSName, or CN if there is no such name.
bool names_host(X509* certificate, const std::string& host) {
  return !host.empty() && X509_check_host(certificate, host.data(), host.size(), 0, nullptr) == 1;
}

bool is_ip_literal(const std::string& host) { return Address::parse(host, 0).has_value(); }

}  // namespace

IoResult<std::unique_ptr<TlsSession>> TlsSession::start(int fd, std::shared_ptr<const TlsContext> context,
                                                        const TlsPeer& peer) {
  SslPtr ssl(SSL_new(context->native()));
  BioPtr bio = make_socket_bio(fd);
  if (!ssl || !bio) return std::unexpected(openssl_error("cannot start TLS"));
  BIO* const both = bio.release();  // The SSL object owns it from here.
  SSL_set_bio(ssl.get(), both, both);

  std::unique_ptr<TlsSession> session(new TlsSession(std::move(ssl), std::move(context), peer));
  SSL* const native = session->ssl_.get();
  const bool is_client = session->context_->role() == TlsRole::kClient;
  session->handshake_wants_ = is_client ? EPOLLOUT : EPOLLIN;
  session->read_wants_ = EPOLLIN;
  session->write_wants_ = EPOLLOUT;
  SSL_set_app_data(native, session.get());
  if (session->context_->verifies_peer_name()) {
    SSL_set_verify(native, SSL_get_verify_mode(native), &TlsSession::verify_peer);
  }
  if (!is_client) {
    SSL_set_accept_state(native);
    return session;
  }
  SSL_set_connect_state(native);
  if (!peer.host.empty() && !is_ip_literal(peer.host)) SSL_set_tlsext_host_name(native, peer.host.c_str());
  return session;
}

// Called once for each certificate of the chain, the peer's own (depth 0) last.
int TlsSession::verify_peer(int chain_ok, X509_STORE_CTX* verification) {
  if (chain_ok == 0 || X509_STORE_CTX_get_error_depth(verification) != 0) return chain_ok;
  const auto* ssl =
      static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* self = static_cast<const TlsSession*>(SSL_get_app_data(ssl));
  X509* const certificate = X509_STORE_CTX_get_current_cert(verification);
  if (names_address(certificate, self->peer_.address)) return 1;
  // Only the connecting side knows a name; a reverse lookup of a client's address proves nothing.
  if (self->context_->role() == TlsRole::kClient && names_host(certificate, self->peer_.host)) return 1;
  X509_STORE_CTX_set_error(verification, X509_V_ERR_HOSTNAME_MISMATCH);
  return 0;
}

IoStatus TlsSession::handshake() {
  if (established_) return IoStatus::kOk;
  if (end_ != IoStatus::kAgain) return end_;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result != 1) return judge(result, handshake_wants_);
  established_ = true;
  // The first request may have arrived in the same segment as the end of the handshake.
  drained_ = false;
  return IoStatus::kOk;
}

// Decrypts until `into` is full or nothing is left: reading one record at a time would leave bytes in memory
// that epoll does not report. If the stream ends after some bytes, the next call reports the end.
IoCount TlsSession::read(char* into, std::size_t n) {
  drained_ = false;
  std::size_t total = 0;
  while (total < n && end_ == IoStatus::kAgain) {
    std::size_t got = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), into + total, n - total, &got);
    if (result == 1) {
      read_wants_ = EPOLLIN;
      total += got;
      // Another attempt would only cost a recv that finds nothing; epoll reports later bytes.
      if (SSL_has_pending(ssl_.get()) == 0) break;
    } else if (judge(result, read_wants_) == IoStatus::kAgain) {
      drained_ = true;
      break;
    }
  }
  if (total > 0) return {IoStatus::kOk, total};
  drained_ = true;
  return {end_};
}

IoCount TlsSession::write(std::string_view bytes) {
  std::size_t total = 0;
  while (total < bytes.size() && end_ == IoStatus::kAgain) {
    std::size_t sent = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(ssl_.get(), bytes.data() + total, bytes.size() - total, &sent);
    if (result == 1) {
      write_wants_ = EPOLLOUT;
      total += sent;
    } else if (judge(result, write_wants_) == IoStatus::kAgain) {
      break;
    }
  }
  return total > 0 ? IoCount{IoStatus::kOk, total} : IoCount{end_};
}

IoStatus TlsSession::judge(int result, std::uint32_t& wants) {
  const int errno_value = errno;
  switch (const int ssl_error = SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: wants = EPOLLIN; return IoStatus::kAgain;
    case SSL_ERROR_WANT_WRITE: wants = EPOLLOUT; return IoStatus::kAgain;
    case SSL_ERROR_ZERO_RETURN: end_ = IoStatus::kClosed; return end_;
    default:
      describe_failure(ssl_error, errno_value);
      end_ = IoStatus::kError;
      return end_;
  }
}

void TlsSession::describe_failure(int ssl_error, int errno_value) {
  const std::string what = established_ ? "TLS connection failed" : "TLS handshake failed";
  const long verdict = SSL_get_verify_result(ssl_.get());
  if (ssl_error == SSL_ERROR_SYSCALL && ERR_peek_error() == 0) {
    error_text_ =
        errno_value == 0 ? what + ": the peer closed the connection" : io_error(errno_value, what).what;
    return;
  }
  error_text_ = what + ": " + take_openssl_error();
  if (verdict != X509_V_OK) error_text_ += std::string(" (") + X509_verify_cert_error_string(verdict) + ")";
}

std::uint32_t TlsSession::events_for(Interest interest) const {
  if (!established_) return handshake_wants_;
  return (interest.read ? read_wants_ : 0) | (interest.write ? write_wants_ : 0);
}

bool TlsSession::has_buffered() const {
  if (!established_ || drained_) return false;
  // SSL_has_pending() also counts an incomplete record; then read() returns kAgain once.
  return end_ != IoStatus::kAgain || SSL_has_pending(ssl_.get()) == 1;
}

void TlsSession::send_close_notify() {
  if (!established_ || end_ == IoStatus::kError) return;  // OpenSSL forbids it after a failure.
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

std::optional<std::string> TlsSession::peer_subject() const {
  X509* const certificate = established_ ? SSL_get0_peer_certificate(ssl_.get()) : nullptr;
  if (certificate == nullptr) return std::nullopt;
  return rfc2253_name(X509_get_subject_name(certificate));
}

bool TlsSession::peer_certificate_names(const std::string& host) const {
  X509* const certificate = established_ ? SSL_get0_peer_certificate(ssl_.get()) : nullptr;
  if (certificate == nullptr) return false;
  const auto literal = Address::parse(host, 0);
  return literal ? names_address(certificate, *literal) : names_host(certificate, host);
}

std::string TlsSession::cipher() const {
  const SSL_CIPHER* cipher = established_ ? SSL_get_current_cipher(ssl_.get()) : nullptr;
  const char* name = cipher == nullptr ? nullptr : SSL_CIPHER_standard_name(cipher);
  return name == nullptr ? "" : name;
}

}  // namespace drover::net
