// SPDX-License-Identifier: Apache-2.0
#include "net/listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace drover::net {
namespace {

constexpr int kJavaBacklog = 50;
constexpr int kAcceptAttempts = 64;

Descriptor open_spare() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

IoResult<Socket> bind_and_listen(const Address& address, int backlog) {
  const std::string what = "cannot listen on " + address.to_text();
  sockaddr_storage storage;
  const socklen_t length = address.to_sockaddr(storage);
  Socket socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return std::unexpected(io_error(errno, what));

  // A restarted server must get its port back while old connections are still in TIME_WAIT.
  const int on = 1;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.is_ipv6()) {
    const int v6_only = address.is_wildcard() ? 0 : 1;
    ::setsockopt(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof v6_only);
  }
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&storage), length) != 0 ||
      ::listen(socket.fd(), backlog) != 0) {
    return std::unexpected(io_error(errno, what));
  }
  return socket;
}

// Java binds either wildcard to both families; if the kernel has no IPv6, only IPv4 is bound.
IoResult<Socket> listen_on_all(std::uint16_t port, int backlog) {
  TRY_ASSIGN(const Address six, Address::parse("::", port));
  auto dual = bind_and_listen(six, backlog);
  if (dual || (dual.error().code != EAFNOSUPPORT && dual.error().code != EADDRNOTAVAIL)) return dual;
  TRY_ASSIGN(const Address four, Address::parse("0.0.0.0", port));
  return bind_and_listen(four, backlog);
}

IoResult<Socket> listen_on(const ListenOptions& options, int backlog) {
  if (options.host.empty()) return listen_on_all(options.port, backlog);
  TRY_ASSIGN(const std::vector<Address> addresses, resolve(options.host, options.port));
  if (addresses.front().is_wildcard()) return listen_on_all(options.port, backlog);
  return bind_and_listen(addresses.front(), backlog);
}

IoResult<Address> bound_address(const Socket& socket) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    return std::unexpected(io_error(errno, "cannot read the address of a listening socket"));
  }
  return Address::from_sockaddr(reinterpret_cast<const sockaddr*>(&storage), length);
}

}  // namespace

IoResult<Listener> Listener::open(const ListenOptions& options) {
  TRY_ASSIGN(Socket socket, listen_on(options, options.backlog > 0 ? options.backlog : kJavaBacklog));
  TRY_ASSIGN(const Address local, bound_address(socket));
  Descriptor spare = open_spare();
  if (!spare) return std::unexpected(io_error(errno, "cannot open a spare descriptor"));
  return Listener(std::move(socket), std::move(spare), local, SocketOptions{.keepalive = options.keepalive});
}

AcceptStatus Listener::accept(Accepted& out) {
  for (int attempt = 0; attempt < kAcceptAttempts; ++attempt) {
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    Socket socket(::accept4(socket_.fd(), reinterpret_cast<sockaddr*>(&storage), &length,
                            SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
      apply_options(socket, accepted_);
      out.peer = Address::from_sockaddr(reinterpret_cast<const sockaddr*>(&storage), length);
      out.socket = std::move(socket);
      return AcceptStatus::kAccepted;
    }
    if (errno == EAGAIN) return AcceptStatus::kNone;
    if (errno == EMFILE || errno == ENFILE) return drop_one();
    if (errno == ENOBUFS || errno == ENOMEM) return AcceptStatus::kExhausted;
    // Any other error belongs to one connection that died in the queue (accept(2)) and has left it. After
    // many in a row, other handlers get their turn.
  }
  return AcceptStatus::kExhausted;
}

AcceptStatus Listener::drop_one() {
  spare_.close();
  Socket victim(::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  // The kernel looks for a descriptor before it looks for a connection, so there may be no connection.
  const bool nobody = !victim && errno == EAGAIN;
  const bool dropped = static_cast<bool>(victim);
  victim.close();
  spare_ = open_spare();
  if (nobody) return AcceptStatus::kNone;
  return dropped ? AcceptStatus::kDropped : AcceptStatus::kExhausted;
}

}  // namespace drover::net
