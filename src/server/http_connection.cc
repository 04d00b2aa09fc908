// SPDX-License-Identifier: Apache-2.0
#include "server/http_connection.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "server/http_text.h"
#include "server/log.h"

namespace drover::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using TlsStream = asio::ssl::stream<beast::tcp_stream>;

constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::size_t kGetBodyBytesMax = 4096;  // nobody looks at it
// For a client that still sends a body nobody wants: closing at once would take our answer from it.
constexpr std::chrono::seconds kLingerTime{2};
constexpr std::size_t kLingerBytes = 8 << 20;

std::optional<HttpMethod> method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get:
    case http::verb::head: return HttpMethod::kGet;
    case http::verb::post: return HttpMethod::kPost;
    case http::verb::put: return HttpMethod::kPut;
    case http::verb::delete_: return HttpMethod::kDelete;
    default: return std::nullopt;
  }
}

HttpResponse run_handler(const HttpHandler& handle, const HttpRequest& request) {
  try {
    return handle(request);
  } catch (const std::exception& failure) {
    log_error("http", "{}: {}", escaped(request.path, 128), failure.what());
    return text_response(500, "the request could not be answered\n");
  }
}

// Calls when it ends, one way or the other.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> call) : call_(std::move(call)) {}
  ~AtEnd() { call_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> call_;
};

template <class Stream>
class Connection : public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(Stream stream, HttpNewcomer& newcomer, const HttpRouter& router,
             const HttpConnectionLimits& limits)
      : stream_(std::move(stream)),
        pause_(stream_.get_executor()),
        peer_(newcomer.peer),
        tls_(std::move(newcomer.tls)),
        seat_(std::move(newcomer.seat)),
        router_(router),
        limits_(limits) {}

  void start(beast::flat_buffer seen) {
    buffer_ = std::move(seen);
    if constexpr (kIsTls) {
      socket().expires_after(std::chrono::milliseconds(tls_->handshake_timeout_ms()));
      stream_.async_handshake(asio::ssl::stream_base::server, buffer_.data(),
                              [self = this->shared_from_this()](error_code failed, std::size_t used) {
                                self->buffer_.consume(used);
                                if (!failed) self->read_header();
                              });
    } else {
      read_header();
    }
  }

 private:
  static constexpr bool kIsTls = std::is_same_v<Stream, TlsStream>;

  beast::tcp_stream& socket() {
    if constexpr (kIsTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }
  void restart_clock() { socket().expires_after(std::chrono::milliseconds(limits_.idle_timeout_ms)); }

  // Wraps a step that follows an asynchronous operation; an error ends the connection.
  template <class Step>
  auto then(Step step) {
    return [self = this->shared_from_this(), step](error_code failed, std::size_t = 0) {
      if (!failed) step(*self);
    };
  }

  // --- the request ---

  void read_header() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(limits_.header_bytes_max));
    parser_->body_limit(boost::none);  // read_body() has a limit of its own
    request_ = {};
    sink_.reset();
    keep_alive_ = true;
    restart_clock();
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](error_code failed, std::size_t) { self->on_header(failed); });
  }

  void on_header(error_code failed) {
    if (failed == http::error::header_limit) return refuse(431, "the header is too large\n");
    if (failed == http::error::end_of_stream || failed == http::error::partial_message) return end();
    if (failed && failed.category() == http::make_error_code(http::error::bad_method).category())
      return refuse(400, "this is not HTTP\n");
    if (failed) return;
    const auto& header = parser_->get();
    keep_alive_ = parser_->keep_alive();
    is_head_ = header.method() == http::verb::head;
    version_ = header.version();
    const auto method = method_of(header.method());
    if (!method) return refuse(405, "this method is not served\n");
    auto target = parse_target({header.target().data(), header.target().size()});
    if (!target) return refuse(400, "the path or the query cannot be read\n");
    request_.method = *method;
    request_.path = std::move(target->path);
    request_.query = std::move(target->query);
    for (const auto& field : header)
      request_.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    request_.remote = peer_.to_text().substr(1);
    request_.ip = peer_.ip_text();
    request_.tls = kIsTls;
    find_route();
  }

  void find_route() {
    HttpRouter::Match match = router_.find(request_.method, request_.path);
    if (match.route == nullptr) {
      const bool known = !match.allowed.empty();
      HttpResponse response = text_response(known ? 405 : 404, known ? "not by this method\n" : "not here\n");
      if (known) response.headers.push_back({"Allow", match.allowed});
      keep_alive_ = keep_alive_ && parser_->is_done();
      return respond(std::move(response));
    }
    if (limits_.guard != nullptr) {
      if (auto refusal = (*limits_.guard)(request_)) {
        keep_alive_ = keep_alive_ && parser_->is_done();
        return respond(*std::move(refusal));
      }
    }
    handler_ = &match.route->handle;
    if (match.route->upload) {
      UploadStart start = match.route->upload(request_);
      if (auto* refusal = std::get_if<HttpResponse>(&start)) {
        keep_alive_ = keep_alive_ && parser_->is_done();
        return respond(std::move(*refusal));
      }
      sink_ = std::move(std::get<std::unique_ptr<BodySink>>(start));
    } else if (parser_->content_length().value_or(0) > body_bytes_max()) {
      return refuse(413, "the body is too large\n");
    }
    restart_clock();
    if (!parser_->is_done() && beast::iequals(parser_->get()[http::field::expect], "100-continue"))
      return welcome_body();
    read_body();
  }

  std::size_t body_bytes_max() const {
    return request_.method == HttpMethod::kGet ? std::min(kGetBodyBytesMax, limits_.body_bytes_max)
                                               : limits_.body_bytes_max;
  }

  void welcome_body() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue), then([](Connection& c) { c.read_body(); }));
  }

  void read_body() {
    if (parser_->is_done()) return answer();
    piece_.resize(kPieceBytes);
    auto& body = parser_->get().body();
    body.data = piece_.data();
    body.size = piece_.size();
    body.more = true;
    // A body that is kept has one clock for all of it, or a byte now and then would hold a seat for ever.
    if (sink_) restart_clock();
    http::async_read_some(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](error_code failed, std::size_t) { self->on_body(failed); });
  }

  void on_body(error_code failed) {
    if (failed && failed != http::error::need_buffer) return;
    const std::string_view piece(piece_.data(), piece_.size() - parser_->get().body().size);
    if (sink_) {
      if (!piece.empty() && !sink_->write(piece)) {
        keep_alive_ = false;
        return answer();
      }
    } else {
      if (request_.body.size() + piece.size() > body_bytes_max())
        return refuse(413, "the body is too large\n");
      request_.body += piece;
    }
    read_body();
  }

  void answer() {
    if (!sink_) return respond(run_handler(*handler_, request_));
    HttpResponse response = sink_->finish();
    sink_.reset();  // now, and not when the client is done with us: it may hold what the next one needs
    respond(std::move(response));
  }

  // --- the response ---

  // Says no and ends the connection, because the rest of the request is not read.
  void refuse(int status, std::string sentence) {
    keep_alive_ = false;
    respond(text_response(status, std::move(sentence)));
  }

  template <class Message>
  void fill_header(Message& message, const HttpResponse& response) {
    message.version(version_);
    message.result(static_cast<unsigned>(response.status));
    message.reason({reason_of(response.status).data(), reason_of(response.status).size()});
    message.set(http::field::server, "drover");
    if (!response.content_type.empty()) message.set(http::field::content_type, response.content_type);
    for (const HttpHeader& header : response.headers) message.insert(header.name, header.value);
  }

  void respond(HttpResponse response) {
    restart_clock();
    if (response.after_sent) after_sent_.emplace(std::move(response.after_sent));
    if (response.source) return respond_in_pieces(std::move(response));
    whole_.emplace();
    fill_header(*whole_, response);
    const std::size_t length = response.body.size();
    if (!is_head_) whole_->body() = std::move(response.body);
    whole_->content_length(length);
    whole_->keep_alive(keep_alive_);
    http::async_write(stream_, *whole_, then([](Connection& c) { c.on_sent(); }));
  }

  void respond_in_pieces(HttpResponse response) {
    chunked_ = version_ >= 11;
    keep_alive_ = keep_alive_ && chunked_;  // before 1.1 only the end of the connection ends such a body
    source_ = std::move(response.source);
    if (is_head_) source_.reset();
    head_.emplace();
    fill_header(*head_, response);
    head_->chunked(chunked_);
    head_->keep_alive(keep_alive_);
    serializer_.emplace(*head_);
    http::async_write_header(stream_, *serializer_, then([](Connection& c) { c.send_piece(); }));
  }

  void send_piece() {
    if (!source_) return on_sent();
    piece_.clear();
    state_ = source_->next(piece_);
    if (state_ == BodySource::State::kFailed) return source_.reset();
    if (piece_.empty()) return on_piece_sent();
    restart_clock();
    if (!chunked_) {
      asio::async_write(stream_, asio::buffer(piece_), then([](Connection& c) { c.on_piece_sent(); }));
      return;
    }
    asio::async_write(stream_, http::make_chunk(asio::const_buffer(piece_.data(), piece_.size())),
                      then([](Connection& c) { c.on_piece_sent(); }));
  }

  void on_piece_sent() {
    if (state_ == BodySource::State::kEnd) {
      source_.reset();
      if (!chunked_) return on_sent();
      restart_clock();
      asio::async_write(stream_, http::make_chunk_last(), then([](Connection& c) { c.on_sent(); }));
      return;
    }
    if (state_ == BodySource::State::kMore) {
      // Not from here: a source that is quicker than the socket would make the stack grow.
      asio::post(stream_.get_executor(), [self = this->shared_from_this()] { self->send_piece(); });
      return;
    }
    socket().expires_never();
    pause_.expires_after(source_->pause());
    pause_.async_wait(then([](Connection& c) { c.send_piece(); }));
  }

  void on_sent() {
    piece_ = {};
    after_sent_.reset();
    if (keep_alive_) return read_header();
    end();
  }

  // --- the end ---

  void end() {
    socket().expires_after(kLingerTime);
    if constexpr (kIsTls) {
      stream_.async_shutdown([self = this->shared_from_this()](error_code) {});
    } else {
      error_code ignored;
      socket().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
      lingered_ = 0;
      linger();
    }
  }

  void linger() {
    piece_.resize(kPieceBytes);
    stream_.async_read_some(asio::buffer(piece_),
                            [self = this->shared_from_this()](error_code failed, std::size_t got) {
                              self->lingered_ += got;
                              if (!failed && self->lingered_ < kLingerBytes) self->linger();
                            });
  }

  Stream stream_;
  asio::steady_timer pause_;
  net::Address peer_;
  std::shared_ptr<const net::TlsContext> tls_;
  std::shared_ptr<void> seat_;
  const HttpRouter& router_;
  const HttpConnectionLimits limits_;

  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::buffer_body>> parser_;
  HttpRequest request_;
  const HttpHandler* handler_ = nullptr;
  std::unique_ptr<BodySink> sink_;
  std::string piece_;  // of a body, on its way in or out

  bool keep_alive_ = true;
  bool is_head_ = false;
  bool chunked_ = true;
  unsigned version_ = 11;
  std::size_t lingered_ = 0;
  std::optional<AtEnd> after_sent_;
  std::unique_ptr<BodySource> source_;
  BodySource::State state_ = BodySource::State::kEnd;
  std::optional<http::response<http::string_body>> whole_;
  std::optional<http::response<http::empty_body>> head_;
  std::optional<http::response_serializer<http::empty_body>> serializer_;
};

template <class Stream>
void start(Stream stream, HttpNewcomer& newcomer, beast::flat_buffer seen, const HttpRouter& router,
           const HttpConnectionLimits& limits) {
  std::make_shared<Connection<Stream>>(std::move(stream), newcomer, router, limits)->start(std::move(seen));
}

void start_tls(beast::tcp_stream stream, HttpNewcomer& newcomer, beast::flat_buffer seen,
               const HttpRouter& router, const HttpConnectionLimits& limits) {
  SSL* const session = SSL_new(newcomer.tls->native());  // The stream owns it from here.
  if (session == nullptr) return;
  start(TlsStream(std::move(stream), session), newcomer, std::move(seen), router, limits);
}

// Looks at the first bytes of a connection on a port that serves both.
class Detector : public std::enable_shared_from_this<Detector> {
 public:
  Detector(HttpNewcomer newcomer, const HttpRouter& router, const HttpConnectionLimits& limits)
      : stream_(std::move(newcomer.socket)),
        newcomer_(std::move(newcomer)),
        router_(router),
        limits_(limits) {}

  void run() {
    stream_.expires_after(std::chrono::milliseconds(newcomer_.tls->handshake_timeout_ms()));
    beast::async_detect_ssl(stream_, seen_, [self = shared_from_this()](error_code failed, bool is_tls) {
      if (failed) return;
      if (is_tls)
        return start_tls(std::move(self->stream_), self->newcomer_, std::move(self->seen_), self->router_,
                         self->limits_);
      self->newcomer_.tls.reset();
      start(std::move(self->stream_), self->newcomer_, std::move(self->seen_), self->router_, self->limits_);
    });
  }

 private:
  beast::tcp_stream stream_;
  HttpNewcomer newcomer_;
  beast::flat_buffer seen_;
  const HttpRouter& router_;
  const HttpConnectionLimits limits_;
};

}  // namespace

void serve_http(HttpNewcomer newcomer, const HttpRouter& router, const HttpConnectionLimits& limits) {
  if (newcomer.tls && newcomer.plain)
    return std::make_shared<Detector>(std::move(newcomer), router, limits)->run();
  beast::tcp_stream stream(std::move(newcomer.socket));
  if (newcomer.tls) return start_tls(std::move(stream), newcomer, {}, router, limits);
  start(std::move(stream), newcomer, {}, router, limits);
}

}  // namespace drover::server
