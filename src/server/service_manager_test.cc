// SPDX-License-Identifier: Apache-2.0
#include "server/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "net/descriptor.h"

namespace drover::server {
namespace {

// Binds the socket of a service manager; '@' starts an abstract name.
net::Descriptor listen_on(const std::string& name) {
  net::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  EXPECT_EQ(::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  return socket;
}

std::string heard(const net::Descriptor& socket) {
  std::array<char, 100> buffer{};
  const ssize_t got = ::recv(socket.fd(), buffer.data(), buffer.size(), 0);
  return got < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(got));
}

TEST(ServiceManager, IsNotifiedThroughItsSocket) {
  const std::string number = std::to_string(::getpid());
  for (const std::string& name : {"@drover-notify-" + number, "/tmp/drover-notify-" + number}) {
    const net::Descriptor socket = listen_on(name);
    ASSERT_EQ(::setenv("NOTIFY_SOCKET", name.c_str(), 1), 0);
    tell_service_manager("READY=1");
    EXPECT_EQ(heard(socket), "READY=1") << name;
    ::unlink(name.c_str());
  }
  ::unsetenv("NOTIFY_SOCKET");
}

TEST(ServiceManager, NotificationIsOptional) {
  ::unsetenv("NOTIFY_SOCKET");
  tell_service_manager("READY=1");
  for (const std::string& name :
       {std::string(), std::string("/nobody/listens/here"), std::string(200, 'x')}) {
    ASSERT_EQ(::setenv("NOTIFY_SOCKET", name.c_str(), 1), 0);
    tell_service_manager("READY=1");
  }
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace drover::server
