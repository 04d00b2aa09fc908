// SPDX-License-Identifier: Apache-2.0
#include "testing/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

#include "base/number.h"
#include "wire/jute.h"

namespace drover::testing {
namespace {

constexpr int kPatienceSeconds = 10;
constexpr std::int32_t kFrameBytesMax = 64 << 20;

sockaddr_in address_of(const Place& place) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(place.port);
  inet_pton(AF_INET, place.host.c_str(), &address.sin_addr);
  return address;
}

bool receive_exactly(const Socket& socket, char* to, std::size_t count) {
  while (count > 0) {
    const ssize_t n = recv(socket.fd(), to, count, 0);
    if (n <= 0) return false;
    to += n;
    count -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

std::uint16_t Socket::port() const {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.sin_port);
}

std::optional<Place> parse_place(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Place place{std::string(text.substr(0, colon)), 0};
  place.port = parse_number<std::uint16_t>(text.substr(colon + 1)).value_or(0);
  in_addr parsed{};
  const bool good = place.port != 0 && inet_pton(AF_INET, place.host.c_str(), &parsed) == 1;
  return good ? std::optional(std::move(place)) : std::nullopt;
}

Socket connect_to(const Place& place) {
  Socket made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = address_of(place);
  if (connect(made.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  const int on = 1;
  setsockopt(made.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{kPatienceSeconds, 0};
  setsockopt(made.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return made;
}

Socket listen_on(std::uint16_t port) {
  Socket made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(made.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = address_of({"127.0.0.1", port});
  if (bind(made.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  if (listen(made.fd(), SOMAXCONN) != 0) return {};
  return made;
}

bool send_all(const Socket& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::optional<std::string> receive_frame(const Socket& socket) {
  std::array<char, 4> head{};
  if (!receive_exactly(socket, head.data(), head.size())) return std::nullopt;
  const auto length = wire::load_be<std::int32_t>(head.data());
  if (length < 0 || length > kFrameBytesMax) return std::nullopt;
  std::string frame(static_cast<std::size_t>(length), '\0');
  if (!receive_exactly(socket, frame.data(), frame.size())) return std::nullopt;
  return frame;
}

std::string ask_word(const Place& place, std::string_view word) {
  const Socket socket = connect_to(place);
  if (!socket || !send_all(socket, word)) return {};
  std::string answer;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t n = recv(socket.fd(), piece.data(), piece.size(), 0);
    if (n <= 0) return answer;
    answer.append(piece.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace drover::testing
