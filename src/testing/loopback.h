// SPDX-License-Identifier: Apache-2.0
//
// Plain blocking sockets to loopback addresses, as far as tests need them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace drover::testing {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // Of the local end.
  std::uint16_t port() const;

 private:
  int fd_ = -1;
};

struct Place {
  std::string host;  // numeric
  std::uint16_t port = 0;
};
// "127.0.0.1:2181", without a chroot.
std::optional<Place> parse_place(std::string_view text);

Socket connect_to(const Place& place);
Socket listen_on(std::uint16_t port);  // of 127.0.0.1; 0: any

// False: the other side is gone.
bool send_all(const Socket& socket, std::string_view bytes);
// The next frame without its length, or nothing when the other side is gone or says nothing for ten seconds.
std::optional<std::string> receive_frame(const Socket& socket);

// What a server answers to a four-letter word; empty when it does not.
std::string ask_word(const Place& place, std::string_view word);

}  // namespace drover::testing
