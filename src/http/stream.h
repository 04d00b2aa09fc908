// SPDX-License-Identifier: Apache-2.0
//
// The bytes of an HTTP connection, plain or with TLS.
//
// There is one type for both, and one type of handler. Asio's templates take long to compile; this way each
// operation is compiled once, and not once per step of a connection.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

#include <openssl/ssl.h>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/system/error_code.hpp>

namespace drover::server {

class HttpStream {
 public:
  using Handler = std::function<void(boost::system::error_code, std::size_t bytes)>;
  using Buffers = std::array<boost::asio::const_buffer, 3>;  // sent in this order; they can be empty

  virtual ~HttpStream() = default;
  HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  // It has the executor of the handlers and the timeout of the next operation.
  virtual boost::beast::tcp_stream& socket() = 0;
  // The TLS handshake. `seen` is already received, and the handler learns how much of it is used.
  virtual void begin(boost::asio::const_buffer seen, Handler handler) = 0;
  virtual void read_some(boost::asio::mutable_buffer buffer, Handler handler) = 0;
  // Sends all of `buffers`. Their bytes must stay until the handler is called.
  virtual void write(const Buffers& buffers, Handler handler) = 0;
  // Tells the client that nothing more follows.
  virtual void end(Handler handler) = 0;

  void post(std::move_only_function<void()> work);
};

std::unique_ptr<HttpStream> plain_stream(boost::beast::tcp_stream socket);
// Owns `session`.
std::unique_ptr<HttpStream> tls_stream(boost::beast::tcp_stream socket, SSL* session);

}  // namespace drover::server
