// SPDX-License-Identifier: Apache-2.0
#include "http/newcomer.h"

#include <chrono>
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/beast/core/detect_ssl.hpp>

namespace drover::server {
namespace {

namespace beast = boost::beast;

// Checks the first bytes of a connection on a port that serves both.
class Detector : public std::enable_shared_from_this<Detector> {
 public:
  Detector(HttpNewcomer newcomer, const HttpPortParts& port)
      : stream_(std::move(newcomer.socket)), newcomer_(std::move(newcomer)), port_(port) {}

  void run() {
    newcomer_.seat->waits([weak = weak_from_this(), strand = stream_.get_executor()] {
      boost::asio::post(strand, [weak] {
        if (auto self = weak.lock()) self->stream_.close();
      });
    });
    stream_.expires_after(std::chrono::milliseconds(newcomer_.tls->handshake_timeout_ms()));
    beast::async_detect_ssl(
        stream_, seen_, [self = shared_from_this()](boost::system::error_code failed, bool is_tls) {
          if (failed) return;
          self->newcomer_.seat->works();
          if (!is_tls) self->come_plain();
          serve_http(self->newcomer_, std::move(self->stream_), std::move(self->seen_), self->port_);
        });
  }

 private:
  void come_plain() {
    newcomer_.tls.reset();
    if (newcomer_.came_plain) newcomer_.came_plain->fetch_add(1, std::memory_order_relaxed);
  }

  beast::tcp_stream stream_;
  HttpNewcomer newcomer_;
  beast::flat_buffer seen_;
  const HttpPortParts& port_;
};

}  // namespace

void welcome_http(HttpNewcomer newcomer, const HttpPortParts& port) {
  if (newcomer.tls && newcomer.plain) return std::make_shared<Detector>(std::move(newcomer), port)->run();
  beast::tcp_stream stream(std::move(newcomer.socket));
  serve_http(newcomer, std::move(stream), {}, port);
}

}  // namespace drover::server
