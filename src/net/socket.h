// SPDX-License-Identifier: Apache-2.0
//
// A descriptor that closes itself, and the start of an outgoing connection.
#pragma once

#include <utility>

#include "base/result.h"
#include "net/address.h"

namespace drover::net {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Socket() { close(); }

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

  // The error that a finished connection attempt left behind (SO_ERROR), 0 when it succeeded.
  int take_error() const;

 private:
  int fd_ = -1;
};

struct SocketOptions {
  bool keepalive = false;
};

// Small requests must not wait for acknowledgements of earlier ones (Nagle); keepalive when asked for.
void apply_options(const Socket& socket, const SocketOptions& options);

// Begins a non-blocking connection. Writable means finished: then take_error() tells how.
IoResult<Socket> start_connect(const Address& to, const SocketOptions& options = {});

}  // namespace drover::net
