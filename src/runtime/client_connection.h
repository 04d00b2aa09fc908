// SPDX-License-Identifier: Apache-2.0
//
// One client's socket: what it is talking (nothing yet, TLS, a four-letter word, ZooKeeper's protocol), the
// bytes of a frame that is not whole yet, and how far its output got.
//
// The I/O loop does the work; this is what it keeps per connection, so it is kept small.
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
    kDetecting,  // TLS or plain, on a port that takes both
    kTls,        // handshake
    kGreeting,   // the first four bytes: a word, or a frame's length
    kClient,     // the front knows it
    kWord,       // answering a four-letter word, then closing
  };

  ClientConnection(IoLoop& owner, net::Stream s, const net::Address& p)
      : loop(owner), stream(std::move(s)), peer(p) {}
  void on_ready(std::uint32_t events) override;

  IoLoop& loop;
  net::Stream stream;
  net::Address peer;
  std::shared_ptr<const net::TlsContext> tls;  // while it may still become TLS
  Phase phase = Phase::kGreeting;
  bool paused = false;  // not registered for reading
  bool unsent = false;  // registered for writing
  bool held = false;    // `in` has frames that the front does not take now
  replica::ConnId id;
  std::uint32_t index = 0;       // in the loop's table
  std::uint32_t registered = 0;  // epoll events
  Instant deadline;              // for what it must do next; 0: none
  std::string in;                // received and not yet taken
  std::string word;              // the answer to a four-letter word
  std::size_t sent = 0;          // of the output
};

}  // namespace drover::server
