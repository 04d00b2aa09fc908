// SPDX-License-Identifier: Apache-2.0
#include "http/stream.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace drover::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

template <class Stream>
class StreamOf : public HttpStream {
 public:
  explicit StreamOf(Stream stream) : stream_(std::move(stream)) {}

  void read_some(asio::mutable_buffer buffer, Handler handler) final {
    stream_.async_read_some(buffer, std::move(handler));
  }
  void write(const Buffers& buffers, Handler handler) final {
    asio::async_write(stream_, buffers, std::move(handler));
  }

 protected:
  Stream stream_;
};

class PlainStream final : public StreamOf<beast::tcp_stream> {
 public:
  using StreamOf::StreamOf;

  beast::tcp_stream& socket() override { return stream_; }
  void begin(asio::const_buffer, Handler handler) override { handler({}, 0); }
  void end(Handler handler) override {
    error_code failed;
    handler(stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, failed), 0);
  }
};

class TlsStream final : public StreamOf<asio::ssl::stream<beast::tcp_stream>> {
 public:
  using StreamOf::StreamOf;

  beast::tcp_stream& socket() override { return stream_.next_layer(); }
  void begin(asio::const_buffer seen, Handler handler) override {
    stream_.async_handshake(asio::ssl::stream_base::server, seen, std::move(handler));
  }
  void end(Handler handler) override {
    stream_.async_shutdown([handler = std::move(handler)](error_code failed) { handler(failed, 0); });
  }
};

}  // namespace

void HttpStream::post(std::move_only_function<void()> work) {
  asio::post(socket().get_executor(), std::move(work));
}

std::unique_ptr<HttpStream> plain_stream(beast::tcp_stream socket) {
  return std::make_unique<PlainStream>(std::move(socket));
}

std::unique_ptr<HttpStream> tls_stream(beast::tcp_stream socket, SSL* session) {
  return std::make_unique<TlsStream>(asio::ssl::stream<beast::tcp_stream>(std::move(socket), session));
}

}  // namespace drover::server
