// SPDX-License-Identifier: Apache-2.0
//
// A connected or connecting socket, its options, and the start of an outgoing connection.
#pragma once

#include "base/result.h"
#include "net/address.h"
#include "net/descriptor.h"

namespace drover::net {

class Socket : public Descriptor {
 public:
  using Descriptor::Descriptor;

  // The error of a finished connection attempt (SO_ERROR), 0 if it succeeded.
  int take_error() const;
};

struct SocketOptions {
  bool keepalive = false;
};

// Sets TCP_NODELAY, because small requests must not wait for acknowledgements of earlier ones (Nagle), and
// keepalive if requested.
void apply_options(const Socket& socket, const SocketOptions& options);

// Starts a non-blocking connection. The socket becomes writable when the attempt ends: then take_error()
// gives the result.
IoResult<Socket> start_connect(const Address& to, const SocketOptions& options = {});

}  // namespace drover::net
