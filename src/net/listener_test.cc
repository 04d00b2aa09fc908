// SPDX-License-Identifier: Apache-2.0
#include "net/listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>

#include "net/stream.h"

namespace drover::net {
namespace {

bool wait_for(int fd, short events) {
  pollfd p{fd, events, 0};
  return ::poll(&p, 1, 10'000) == 1;
}

Socket connect_to(const Address& address) {
  auto socket = start_connect(address);
  EXPECT_TRUE(socket);
  EXPECT_TRUE(wait_for(socket->fd(), POLLOUT));
  EXPECT_EQ(socket->take_error(), 0);
  return std::move(*socket);
}

Accepted accept_one(Listener& listener) {
  Accepted accepted;
  EXPECT_TRUE(wait_for(listener.fd(), POLLIN));
  EXPECT_EQ(listener.accept(accepted), AcceptStatus::kAccepted);
  return accepted;
}

Address own_address(const Socket& socket) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&storage), &length);
  return Address::from_sockaddr(reinterpret_cast<sockaddr*>(&storage), length);
}

int option_of(const Socket& socket, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  ::getsockopt(socket.fd(), level, name, &value, &length);
  return value;
}

TEST(Listener, ReportsThePortTheKernelChoseAndThePeersAddress) {
  auto listener = Listener::open({.host = "127.0.0.1"});
  ASSERT_TRUE(listener);
  EXPECT_NE(listener->local().port(), 0);
  const Socket client = connect_to(listener->local());
  const Accepted accepted = accept_one(*listener);
  EXPECT_EQ(accepted.peer, own_address(client));
}

TEST(Listener, ReportsWhenNoConnectionIsPending) {
  auto listener = Listener::open({.host = "127.0.0.1"});
  Accepted accepted;
  EXPECT_EQ(listener->accept(accepted), AcceptStatus::kNone);
}

TEST(Listener, AcceptedSocketsAreNonBlockingCloexecAndNodelay) {
  auto listener = Listener::open({.host = "localhost", .keepalive = true});
  ASSERT_TRUE(listener);
  const Socket client = connect_to(listener->local());
  const Accepted accepted = accept_one(*listener);
  EXPECT_TRUE(::fcntl(accepted.socket.fd(), F_GETFL) & O_NONBLOCK);
  EXPECT_TRUE(::fcntl(accepted.socket.fd(), F_GETFD) & FD_CLOEXEC);
  EXPECT_EQ(option_of(accepted.socket, IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_EQ(option_of(accepted.socket, SOL_SOCKET, SO_KEEPALIVE), 1);
}

TEST(Listener, KeepaliveIsOffByDefault) {
  auto listener = Listener::open({.host = "127.0.0.1"});
  const Socket client = connect_to(listener->local());
  EXPECT_EQ(option_of(accept_one(*listener).socket, SOL_SOCKET, SO_KEEPALIVE), 0);
}

TEST(Listener, EveryWildcardNotationAcceptsIpv4AndShowsItAsIpv4) {
  for (const char* host : {"", "0.0.0.0", "::"}) {
    auto listener = Listener::open({.host = host});
    ASSERT_TRUE(listener) << host;
    const Socket client = connect_to(*Address::parse("127.0.0.1", listener->local().port()));
    EXPECT_EQ(accept_one(*listener).peer.ip_text(), "127.0.0.1");
  }
}

TEST(Listener, AcceptsIpv6WhereAvailable) {
  auto listener = Listener::open({.host = "::1"});
  // Containers often have no IPv6. Then the kernel reports it, and so must we.
  const Socket probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage loopback{};
  const socklen_t length = Address::parse("::1", 0)->to_sockaddr(loopback);
  if (::bind(probe.fd(), reinterpret_cast<sockaddr*>(&loopback), length) != 0) {
    ASSERT_FALSE(listener);
    EXPECT_TRUE(listener.error().what.starts_with("cannot listen on ")) << listener.error().what;
    return;
  }
  ASSERT_TRUE(listener) << listener.error().what;
  const Socket client = connect_to(listener->local());
  EXPECT_EQ(accept_one(*listener).peer.ip_text(), "0:0:0:0:0:0:0:1");
}

TEST(Listener, APortInUseIsAClearError) {
  auto first = Listener::open({.host = "127.0.0.1"});
  const auto second = Listener::open({.host = "127.0.0.1", .port = first->local().port()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().what, "cannot listen on " + first->local().to_text() + ": Address already in use");
}

// Lowers the limit of open descriptors to the number that are open now.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    ::close(next);
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(next);
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Listener, WithoutFreeDescriptorsNewConnectionsAreClosed) {
  auto listener = Listener::open({.host = "127.0.0.1"});
  Stream client(connect_to(listener->local()));
  ASSERT_TRUE(wait_for(listener->fd(), POLLIN));
  Accepted accepted;
  {
    const NoMoreDescriptors limit;
    EXPECT_EQ(listener->accept(accepted), AcceptStatus::kDropped);
    EXPECT_EQ(listener->accept(accepted), AcceptStatus::kNone);
  }
  char byte;
  ASSERT_TRUE(wait_for(client.fd(), POLLIN));
  EXPECT_EQ(client.read(&byte, 1).status, IoStatus::kClosed);

  const Socket next = connect_to(listener->local());
  EXPECT_TRUE(accept_one(*listener).socket);
}

TEST(Listener, TheSpareDescriptorCanBeUsedRepeatedly) {
  auto listener = Listener::open({.host = "127.0.0.1"});
  const Socket first = connect_to(listener->local());
  const Socket second = connect_to(listener->local());
  Accepted accepted;
  const NoMoreDescriptors limit;
  EXPECT_EQ(listener->accept(accepted), AcceptStatus::kDropped);
  EXPECT_EQ(listener->accept(accepted), AcceptStatus::kDropped);
}

TEST(Connect, ARefusedConnectionIsReportedBySoError) {
  auto listener = Listener::open({.host = "127.0.0.1"});
  const Address nobody = listener->local();
  listener = std::unexpected(IoError{});
  auto socket = start_connect(nobody);
  if (!socket) {
    EXPECT_EQ(socket.error().code, ECONNREFUSED);
    return;
  }
  ASSERT_TRUE(wait_for(socket->fd(), POLLOUT));
  EXPECT_EQ(socket->take_error(), ECONNREFUSED);
}

}  // namespace
}  // namespace drover::net
