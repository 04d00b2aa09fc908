// SPDX-License-Identifier: Apache-2.0
//
// A port that accepts connections, and keeps working when descriptors run out.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/address.h"
#include "net/socket.h"

namespace drover::net {

struct ListenOptions {
  std::string host = {};   // empty, "0.0.0.0" or "::": every address of both families, as Java binds
  std::uint16_t port = 0;  // 0: the kernel chooses; see Listener::local()
  int backlog = 0;         // 0: 50, Java's default
  bool keepalive = false;  // SO_KEEPALIVE on accepted connections
};

enum class AcceptStatus {
  kAccepted,
  kNone,       // no connection is waiting
  kDropped,    // out of descriptors: one waiting connection was accepted and closed
  kExhausted,  // out of descriptors or memory, and not even that worked: pause before the next retry
};

struct Accepted {
  Socket socket;  // non-blocking, close-on-exec, TCP_NODELAY
  Address peer;
};

// Owned and used by one thread.
//
// If a level-triggered loop cannot accept because it has no descriptor left, it would spin, because the
// connection stays in the queue. The listener therefore holds a spare descriptor: it closes the spare,
// accepts the connection, closes it, and opens the spare again. The client sees a closed connection instead
// of silence.
class Listener {
 public:
  // Resolves the host name once, here.
  static IoResult<Listener> open(const ListenOptions& options);

  int fd() const { return socket_.fd(); }
  const Address& local() const { return local_; }

  AcceptStatus accept(Accepted& out);

 private:
  Listener(Socket socket, Descriptor spare, Address local, SocketOptions accepted_options)
      : socket_(std::move(socket)), spare_(std::move(spare)), local_(local), accepted_(accepted_options) {}
  AcceptStatus drop_one();

  Socket socket_;
  Descriptor spare_;
  Address local_;
  SocketOptions accepted_;
};

}  // namespace drover::net
