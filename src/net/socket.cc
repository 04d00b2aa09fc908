// SPDX-License-Identifier: Apache-2.0
#include "net/socket.h"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace drover::net {

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

int Socket::take_error() const {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

void apply_options(const Socket& socket, const SocketOptions& options) {
  // Neither call can fail on a connected TCP socket; if it is no longer connected, the next read reports
  // that.
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (options.keepalive) ::setsockopt(socket.fd(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

IoResult<Socket> start_connect(const Address& to, const SocketOptions& options) {
  sockaddr_storage storage;
  const socklen_t length = to.to_sockaddr(storage);
  Socket socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return std::unexpected(io_error(errno, "cannot create a socket"));
  apply_options(socket, options);
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&storage), length) != 0 &&
      errno != EINPROGRESS) {
    return std::unexpected(io_error(errno, "cannot connect to " + to.to_text()));
  }
  return socket;
}

}  // namespace drover::net
