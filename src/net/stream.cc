// SPDX-License-Identifier: Apache-2.0
#include "net/stream.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/ensure.h"
#include "net/tls_context.h"
#include "net/tls_session.h"

namespace drover::net {

Stream::Stream() = default;
Stream::Stream(Socket socket) : socket_(std::move(socket)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

IoResult<void> Stream::start_tls(std::shared_ptr<const TlsContext> context, const TlsPeer& peer) {
  ENSURE(!tls_, "TLS starts once");
  TRY_ASSIGN(tls_, TlsSession::start(socket_.fd(), std::move(context), peer));
  return {};
}

IoStatus Stream::handshake() { return tls_ ? tls_->handshake() : IoStatus::kOk; }

IoCount Stream::read(char* into, std::size_t n) {
  if (tls_) return tls_->read(into, n);
  const ssize_t got = ::recv(socket_.fd(), into, n, 0);
  if (got > 0) return {IoStatus::kOk, static_cast<std::size_t>(got)};
  return got == 0 ? IoCount{IoStatus::kClosed} : from_errno();
}

IoCount Stream::write(std::string_view bytes) {
  if (tls_) return tls_->write(bytes);
  const ssize_t sent = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return sent >= 0 ? IoCount{IoStatus::kOk, static_cast<std::size_t>(sent)} : from_errno();
}

IoCount Stream::peek(char* into, std::size_t n) {
  ENSURE(!tls_, "only a plain stream can be peeked at");
  const ssize_t got = ::recv(socket_.fd(), into, n, MSG_PEEK);
  if (got > 0) return {IoStatus::kOk, static_cast<std::size_t>(got)};
  return got == 0 ? IoCount{IoStatus::kClosed} : from_errno();
}

IoCount Stream::from_errno() {
  if (errno == EAGAIN || errno == EINTR) return {IoStatus::kAgain};
  errno_ = errno;
  return {IoStatus::kError};
}

std::uint32_t Stream::events_for(Interest interest) const {
  if (tls_) return tls_->events_for(interest);
  return (interest.read ? std::uint32_t{EPOLLIN} : 0) | (interest.write ? std::uint32_t{EPOLLOUT} : 0);
}

bool Stream::has_buffered() const { return tls_ && tls_->has_buffered(); }

void Stream::shutdown() {
  if (tls_) tls_->send_close_notify();
  ::shutdown(socket_.fd(), SHUT_WR);
}

void Stream::close() {
  tls_.reset();
  socket_.close();
}

std::string Stream::error_text() const {
  return tls_ ? tls_->error_text() : io_error(errno_, "connection failed").what;
}

std::optional<std::string> Stream::peer_subject() const { return tls_ ? tls_->peer_subject() : std::nullopt; }
bool Stream::peer_certificate_names(const std::string& host) const {
  return tls_ && tls_->peer_certificate_names(host);
}
std::string Stream::tls_version() const { return tls_ ? tls_->version() : ""; }
std::string Stream::tls_cipher() const { return tls_ ? tls_->cipher() : ""; }

bool looks_like_tls(std::string_view first_bytes) {
  constexpr char kHandshakeRecord = 0x16;
  constexpr char kMajorVersion = 0x03;
  if (first_bytes.empty() || first_bytes[0] != kHandshakeRecord) return false;
  return first_bytes.size() == 1 || first_bytes[1] == kMajorVersion;
}

}  // namespace drover::net
