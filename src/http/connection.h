// SPDX-License-Identifier: Apache-2.0
//
// One HTTP connection: serves requests until one side closes it.
//
// Its pending operation keeps it alive, so it ends when nothing is pending. Its steps run one after the other
// on a strand of the HTTP port's I/O thread. Between two steps the guard, the handler, the sink or the source
// can run on a thread of the route's pace.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "http/budget.h"
#include "http/connection_slots.h"
#include "http/guard.h"
#include "http/router.h"
#include "http/threads.h"
#include "net/address.h"
#include "net/tls_context.h"

namespace drover::server {

// State shared by all connections of a port. It outlives them.
struct HttpPortParts {
  const HttpRouter& router;
  HttpThreads& threads;
  HttpBudget& bodies;
  const HttpGuard* guard;  // null: all requests are allowed
  bool use_forwarded_for;  // HttpRequest::ip is what X-Forwarded-For says
  int idle_timeout_ms;
  std::size_t header_bytes_max;
  std::size_t body_bytes_max;
};

struct HttpAccepted {
  boost::asio::ip::tcp::socket socket;  // its executor is a strand
  net::Address peer;
  std::shared_ptr<const net::TlsContext> tls;        // null: plain
  bool plain = true;                                 // with `tls`: plain is accepted too
  std::atomic<std::uint64_t>* came_plain = nullptr;  // counts plain connections when TLS was offered
  std::unique_ptr<HttpConnectionSlot> slot;          // released when the connection ends
};

// Serves with TLS if `accepted` has a context. `seen` holds the bytes already received.
void serve_http(HttpAccepted& accepted, boost::beast::tcp_stream socket, boost::beast::flat_buffer seen,
                const HttpPortParts& port);

}  // namespace drover::server
