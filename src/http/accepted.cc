// SPDX-License-Identifier: Apache-2.0
#include "http/accepted.h"

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
  Detector(HttpAccepted accepted, const HttpPortParts& port)
      : stream_(std::move(accepted.socket)), accepted_(std::move(accepted)), port_(port) {}

  void run() {
    accepted_.slot->waits([weak = weak_from_this(), strand = stream_.get_executor()] {
      boost::asio::post(strand, [weak] {
        if (auto self = weak.lock()) self->stream_.close();
      });
    });
    stream_.expires_after(std::chrono::milliseconds(accepted_.tls->handshake_timeout_ms()));
    beast::async_detect_ssl(
        stream_, seen_, [self = shared_from_this()](boost::system::error_code failed, bool is_tls) {
          if (failed) return;
          self->accepted_.slot->works();
          if (!is_tls) self->come_plain();
          serve_http(self->accepted_, std::move(self->stream_), std::move(self->seen_), self->port_);
        });
  }

 private:
  void come_plain() {
    accepted_.tls.reset();
    if (accepted_.came_plain) accepted_.came_plain->fetch_add(1, std::memory_order_relaxed);
  }

  beast::tcp_stream stream_;
  HttpAccepted accepted_;
  beast::flat_buffer seen_;
  const HttpPortParts& port_;
};

}  // namespace

void start_http(HttpAccepted accepted, const HttpPortParts& port) {
  if (accepted.tls && accepted.plain) return std::make_shared<Detector>(std::move(accepted), port)->run();
  beast::tcp_stream stream(std::move(accepted.socket));
  serve_http(accepted, std::move(stream), {}, port);
}

}  // namespace drover::server
