// SPDX-License-Identifier: Apache-2.0
//
// Simple blocking sockets on loopback addresses, for tests.
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
  // Port of the local end.
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
Socket listen_on(std::uint16_t port);  // on 127.0.0.1; 0: any port

// False: the other side has closed.
bool send_all(const Socket& socket, std::string_view bytes);
// Returns the next frame without its length. None: the other side has closed, or is silent for ten seconds.
std::optional<std::string> receive_frame(const Socket& socket);

// Returns the answer to a four-letter word; empty: no answer.
std::string ask_word(const Place& place, std::string_view word);

}  // namespace drover::testing
