// SPDX-License-Identifier: Apache-2.0
#include "server/http_server.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include "net/listener.h"
#include "server/http_connection.h"
#include "server/log.h"

namespace drover::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Clients come first. (On Linux this is the thread's priority, not the process's.)
constexpr int kHttpNice = 5;
constexpr std::chrono::seconds kPauseWhenExhausted{1};

class AsioHttpServer final : public HttpServer {
 public:
  AsioHttpServer(const HttpServerOptions& options, const HttpRouter& router, net::Listener listener)
      : options_(options),
        router_(router),
        listener_(std::move(listener)),
        port_(listener_.local().port()),
        io_(options.threads),
        incoming_(io_, fcntl(listener_.fd(), F_DUPFD_CLOEXEC, 0)),
        pause_(io_) {
    accept_when_ready();
    for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~AsioHttpServer() override {
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
  }
  AsioHttpServer(const AsioHttpServer&) = delete;
  AsioHttpServer& operator=(const AsioHttpServer&) = delete;

  int port() const override { return port_; }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "drover-http");
    setpriority(PRIO_PROCESS, 0, kHttpNice);
    // What a sink or a source throws ends its connection, which nothing holds any more, and not the server.
    for (;;) {
      try {
        io_.run();
        return;
      } catch (const std::exception& failure) {
        log_error("http", "a connection ends: {}", failure.what());
      }
    }
  }

  void accept_when_ready() {
    incoming_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code failed) {
      if (failed) return;
      if (accept_some()) return accept_when_ready();
      pause_.expires_after(kPauseWhenExhausted);
      pause_.async_wait([this](error_code) { accept_when_ready(); });
    });
  }

  // False: there is no room, for now.
  bool accept_some() {
    try {
      return accept_all();
    } catch (const std::exception& failure) {
      log_error("http", "a connection was not accepted: {}", failure.what());
      return false;
    }
  }

  // False: there are no descriptors left.
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
    if (connections_->load() >= options_.connections_max) return;  // and so it is closed
    connections_->fetch_add(1);
    std::shared_ptr<void> seat(nullptr, [count = connections_](void*) { count->fetch_sub(1); });
    asio::ip::tcp::socket socket(asio::make_strand(io_));
    error_code failed;
    socket.assign(protocol_of_listener(), accepted.socket.release(), failed);
    if (failed) return;
    serve_http({.socket = std::move(socket),
                .peer = accepted.peer,
                .tls = options_.tls ? options_.tls->current() : nullptr,
                .plain = options_.plain,
                .seat = std::move(seat)},
               router_,
               {.idle_timeout_ms = options_.idle_timeout_ms,
                .header_bytes_max = options_.header_bytes_max,
                .body_bytes_max = options_.body_bytes_max,
                .guard = options_.guard ? &options_.guard : nullptr});
  }

  // Only for what asio remembers of a socket; the kernel knows better.
  asio::ip::tcp protocol_of_listener() const {
    return listener_.local().is_ipv6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
  }

  const HttpServerOptions options_;
  const HttpRouter& router_;
  net::Listener listener_;
  const int port_;
  // Connections may give their seats back while io_ is destroyed, so the count outlives both.
  std::shared_ptr<std::atomic<std::size_t>> connections_ = std::make_shared<std::atomic<std::size_t>>(0);
  asio::io_context io_;
  asio::posix::stream_descriptor incoming_;
  asio::steady_timer pause_;
  std::vector<std::thread> threads_;
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
