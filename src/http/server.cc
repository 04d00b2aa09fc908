// SPDX-License-Identifier: Apache-2.0
#include "http/server.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include "http/accepted.h"
#include "log/log.h"
#include "net/listener.h"

namespace drover::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::chrono::seconds kPauseWhenExhausted{1};

class AsioHttpServer final : public HttpServer {
 public:
  AsioHttpServer(const HttpServerOptions& options, const HttpRouter& router, net::Listener listener)
      : options_(options),
        listener_(std::move(listener)),
        port_(listener_.local().port()),
        slots_(options.connections_max),
        bodies_(options.bodies_bytes_max),
        threads_(router, options.threads),
        parts_{.router = router,
               .threads = threads_,
               .bodies = bodies_,
               .guard = options_.guard ? &options_.guard : nullptr,
               .use_forwarded_for = options_.use_forwarded_for,
               .idle_timeout_ms = options.idle_timeout_ms,
               .header_bytes_max = options.header_bytes_max,
               .body_bytes_max = options.body_bytes_max},
        incoming_(threads_.io(), fcntl(listener_.fd(), F_DUPFD_CLOEXEC, 0)),
        pause_(threads_.io()) {
    threads_.post(HttpPace::kInstant, [this] { accept_when_ready(); });
  }
  ~AsioHttpServer() override { threads_.stop(); }
  AsioHttpServer(const AsioHttpServer&) = delete;
  AsioHttpServer& operator=(const AsioHttpServer&) = delete;

  int port() const override { return port_; }

 private:
  void accept_when_ready() {
    incoming_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code failed) {
      if (failed) return;
      if (accept_some()) return accept_when_ready();
      pause_.expires_after(kPauseWhenExhausted);
      pause_.async_wait([this](error_code) { accept_when_ready(); });
    });
  }

  // False: no resources for now.
  bool accept_some() {
    try {
      return accept_all();
    } catch (const std::exception& failure) {
      log_error("http", "a connection was not accepted: {}", failure.what());
      return false;
    }
  }

  // False: no file descriptors left.
  bool accept_all() {
    for (;;) {
      net::Accepted accepted;
      switch (listener_.accept(accepted)) {
        case net::AcceptStatus::kNone: return true;
        case net::AcceptStatus::kExhausted: return false;
        case net::AcceptStatus::kDropped: break;
        case net::AcceptStatus::kAccepted: begin(std::move(accepted)); break;
      }
    }
  }

  void begin(net::Accepted accepted) {
    std::unique_ptr<HttpConnectionSlot> slot = slots_.take();
    if (!slot) return;  // the connection is closed
    asio::ip::tcp::socket socket(asio::make_strand(threads_.io()));
    error_code failed;
    socket.assign(protocol_of_listener(), accepted.socket.release(), failed);
    if (failed) return;
    start_http({.socket = std::move(socket),
                .peer = accepted.peer,
                .tls = options_.tls ? options_.tls->current() : nullptr,
                .plain = options_.plain,
                .came_plain = options_.came_plain,
                .slot = std::move(slot)},
               parts_);
  }

  // Only for asio's bookkeeping; the kernel knows the protocol.
  asio::ip::tcp protocol_of_listener() const {
    return listener_.local().is_ipv6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
  }

  const HttpServerOptions options_;
  net::Listener listener_;
  const int port_;
  // Before the threads: connections release their shares of these while the threads are destroyed.
  HttpConnectionSlots slots_;
  HttpBudget bodies_;
  HttpThreads threads_;
  const HttpPortParts parts_;
  asio::posix::stream_descriptor incoming_;
  asio::steady_timer pause_;
};

}  // namespace

IoResult<std::unique_ptr<HttpServer>> HttpServer::open(const HttpServerOptions& options,
                                                       const HttpRouter& router) {
  net::ListenOptions listen;
  listen.host = options.host;
  listen.port = options.port;
  TRY_ASSIGN(auto listener, net::Listener::open(listen));
  return std::make_unique<AsioHttpServer>(options, router, std::move(listener));
}

}  // namespace drover::server
