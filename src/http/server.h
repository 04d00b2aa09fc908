// SPDX-License-Identifier: Apache-2.0
//
// The HTTP port: listens, reads requests, calls the router's handlers, sends their responses.
//
// It has its own threads with a lower priority than the threads that serve clients. So nothing here delays a
// client longer than a four-letter word does. Some of its threads are reserved for quick requests
// (http/threads.h). All resources that a stranger can use are limited: connections (http/connection_slots.h),
// the header, the body, all bodies together, and the time to receive a request.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/guard.h"
#include "http/router.h"
#include "net/tls_context_holder.h"

namespace drover::server {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: the kernel chooses
  int idle_timeout_ms = 30'000;
  std::size_t header_bytes_max = 16 * 1024;
  std::size_t body_bytes_max = 2 << 20;     // per body in memory; a sink has its own limits
  std::size_t bodies_bytes_max = 64 << 20;  // all bodies in memory together
  std::size_t connections_max = 256;
  bool use_forwarded_for = false;              // X-Forwarded-For names the client
  int threads = 2;                             // for handlers that can block
  const net::TlsContextHolder* tls = nullptr;  // null: plain only; outlives the server
  bool plain = true;                           // with `tls`: plain too, detected by the first bytes
  std::atomic<std::uint64_t>* came_plain =
      nullptr;        // with both: counts plain connections; outlives the server
  HttpGuard guard{};  // empty: all requests are allowed
};

class HttpServer {
 public:
  // `router` outlives the server and does not change from now on.
  static IoResult<std::unique_ptr<HttpServer>> open(const HttpServerOptions& options,
                                                    const HttpRouter& router);
  // Waits for the running handlers, then closes every connection.
  virtual ~HttpServer() = default;

  // The port in use, also if the options said 0.
  virtual int port() const = 0;
};

}  // namespace drover::server
