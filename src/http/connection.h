// SPDX-License-Identifier: Apache-2.0
//
// One HTTP connection: request after request until either side has enough.
//
// Kept alive by its own pending operation, so it ends when nothing is pending. Its steps run on one strand of
// the thread that moves bytes, one after the other; between two of them the guard, the handler, the sink or
// the source may run on a thread of its route's pace.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "http/budget.h"
#include "http/guard.h"
#include "http/lanes.h"
#include "http/router.h"
#include "http/seats.h"
#include "net/address.h"
#include "net/tls_context.h"

namespace drover::server {

// What all connections of a port share. It outlives them.
struct HttpPortParts {
  const HttpRouter& router;
  HttpLanes& lanes;
  HttpBudget& bodies;
  const HttpGuard* guard;  // null: everybody is welcome
  int idle_timeout_ms;
  std::size_t header_bytes_max;
  std::size_t body_bytes_max;
};

struct HttpNewcomer {
  boost::asio::ip::tcp::socket socket;  // its executor is a strand
  net::Address peer;
  std::shared_ptr<const net::TlsContext> tls;        // null: plain
  bool plain = true;                                 // with `tls`: whichever the client speaks
  std::atomic<std::uint64_t>* came_plain = nullptr;  // counts those who had the choice and did not encrypt
  std::unique_ptr<HttpSeat> seat;                    // given back when the connection ends
};

// With TLS if the newcomer has a context. `seen` has come already.
void serve_http(HttpNewcomer& newcomer, boost::beast::tcp_stream stream, boost::beast::flat_buffer seen,
                const HttpPortParts& port);

}  // namespace drover::server
