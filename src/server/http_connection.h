// SPDX-License-Identifier: Apache-2.0
//
// One HTTP connection: request after request until either side has enough.
//
// Kept alive by its own pending operation, so it ends when nothing is pending. All its steps run on one
// strand.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "net/address.h"
#include "net/tls_context.h"
#include "server/http_guard.h"
#include "server/http_router.h"

namespace drover::server {

struct HttpConnectionLimits {
  int idle_timeout_ms = 30'000;
  std::size_t header_bytes_max = 16 * 1024;
  std::size_t body_bytes_max = 2 << 20;
  const HttpGuard* guard = nullptr;
};

struct HttpNewcomer {
  boost::asio::ip::tcp::socket socket;  // its executor is a strand
  net::Address peer;
  std::shared_ptr<const net::TlsContext> tls;  // null: plain
  bool plain = true;                           // with `tls`: whichever the client speaks
  std::shared_ptr<void> seat;                  // given back when the connection ends
};

void serve_http(HttpNewcomer newcomer, const HttpRouter& router, const HttpConnectionLimits& limits);

}  // namespace drover::server
