// SPDX-License-Identifier: Apache-2.0
//
// The HTTP side's port: listens, reads requests, asks the router's handlers, sends their answers.
//
// It has threads of its own, at a lower priority than those that serve clients, so nothing that happens here
// keeps a client waiting for longer than a four-letter word would; and of its threads some are kept for those
// who ask for little (http/lanes.h). Everything a stranger can make it hold is bounded: connections
// (http/seats.h), header, body, all bodies together, and the time that a request takes to come.
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
  std::size_t body_bytes_max = 2 << 20;     // of a body that is kept; a sink takes what it likes
  std::size_t bodies_bytes_max = 64 << 20;  // of all of them that are kept
  std::size_t connections_max = 256;
  int threads = 2;                             // for handlers that may wait
  const net::TlsContextHolder* tls = nullptr;  // null: plain only; outlives the server
  bool plain = true;                           // with `tls`: plain as well, told apart by the first bytes
  std::atomic<std::uint64_t>* came_plain =
      nullptr;        // with both: counts who did not encrypt; outlives the server
  HttpGuard guard{};  // empty: everybody is welcome
};

class HttpServer {
 public:
  // `router` outlives the server and does not change any more.
  static IoResult<std::unique_ptr<HttpServer>> open(const HttpServerOptions& options,
                                                    const HttpRouter& router);
  // Waits for the handlers that are at work, then cuts every connection.
  virtual ~HttpServer() = default;

  // The port in use, also when the options said 0.
  virtual int port() const = 0;
};

}  // namespace drover::server
