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

  // The error that a finished connection attempt left behind (SO_ERROR), 0 when it succeeded.
  int take_error() const;
};

struct SocketOptions {
  bool keepalive = false;
};

// Small requests must not wait for acknowledgements of earlier ones (Nagle); keepalive when asked for.
void apply_options(const Socket& socket, const SocketOptions& options);

// Begins a non-blocking connection. Writable means finished: then take_error() tells how.
IoResult<Socket> start_connect(const Address& to, const SocketOptions& options = {});

}  // namespace drover::net
