// SPDX-License-Identifier: Apache-2.0
//
// One client's socket: its phase (unknown yet, TLS, a four-letter word, ZooKeeper's protocol), the bytes of
// an incomplete frame, and the progress of its output.
//
// The I/O loop does the work. This is its state per connection, so it is kept small.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"
#include "net/address.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "replica/messages.h"

namespace drover::net {
class TlsContext;
}

namespace drover::server {

class IoLoop;

struct ClientConnection final : net::EventLoop::Handler {
  enum class Phase : std::uint8_t {
    kDetecting,  // TLS or plain, on a port that accepts both
    kTls,        // handshake
    kGreeting,   // the first four bytes: a word, or a frame's length
    kClient,     // the front handles it
    kWord,       // answer a four-letter word, then close
  };

  ClientConnection(IoLoop& owner, net::Stream s, const net::Address& p)
      : loop(owner), stream(std::move(s)), peer(p) {}
  void on_ready(std::uint32_t events) override;

  IoLoop& loop;
  net::Stream stream;
  net::Address peer;
  std::shared_ptr<const net::TlsContext> tls;  // set while the connection can still become TLS
  Phase phase = Phase::kGreeting;
  bool paused = false;  // not registered for reading
  bool unsent = false;  // registered for writing
  bool held = false;    // `in` has frames that the front does not accept now
  replica::ConnId id;
  std::uint32_t index = 0;       // in the loop's table
  std::uint32_t registered = 0;  // epoll events
  Instant deadline;              // for its next step; 0: none
  std::string in;                // received but not yet processed
  std::string word;              // the answer to a four-letter word
  std::size_t sent = 0;          // bytes of the output
};

}  // namespace drover::server
