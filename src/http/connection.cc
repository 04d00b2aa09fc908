// SPDX-License-Identifier: Apache-2.0
#include "http/connection.h"

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

#include "http/text.h"
#include "log/log.h"

namespace drover::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using TlsStream = asio::ssl::stream<beast::tcp_stream>;

constexpr std::size_t kFirstBytes = 4096;
constexpr std::size_t kGetBodyBytesMax = 4096;  // it is ignored
// For a client that still sends a rejected body: if we closed at once, it would not get our response.
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

// Calls a function when it is destroyed.
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
  Connection(Stream stream, HttpAccepted& accepted, const HttpPortParts& port)
      : stream_(std::move(stream)),
        pause_(stream_.get_executor()),
        peer_(accepted.peer),
        tls_(std::move(accepted.tls)),
        slot_(std::move(accepted.slot)),
        port_(port),
        body_share_(port.bodies) {}

  void start(beast::flat_buffer seen) {
    buffer_ = std::move(seen);
    if constexpr (kIsTls) {
      await_client();
      socket().expires_after(std::chrono::milliseconds(tls_->handshake_timeout_ms()));
      stream_.async_handshake(asio::ssl::stream_base::server, buffer_.data(),
                              [self = this->shared_from_this()](error_code failed, std::size_t used) {
                                self->buffer_.consume(used);
                                if (!failed) self->read_request();
                              });
    } else {
      read_request();
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
  void restart_clock() { socket().expires_after(std::chrono::milliseconds(port_.idle_timeout_ms)); }
  // From now on the slot can go to a new connection.
  void await_client() {
    slot_->waits([weak = this->weak_from_this(), strand = stream_.get_executor()] {
      asio::post(strand, [weak] {
        if (auto self = weak.lock()) self->socket().close();
      });
    });
  }

  // Wraps a step that follows an asynchronous operation; an error ends the connection.
  template <class Step>
  auto then(Step step) {
    return [self = this->shared_from_this(), step](error_code failed, std::size_t = 0) {
      if (!failed) step(*self);
    };
  }

  // Work that can block runs on a thread of the route's pace, and the next step runs here again. Nothing else
  // happens on this connection meanwhile.
  template <class Work, class Next>
  void at_pace(Work work, Next next) {
    if (pace_ == HttpPace::kInstant) return next(*this, work(*this));
    port_.threads.post(pace_, [self = this->shared_from_this(), work, next]() mutable {
      auto result = work(*self);
      const auto strand = self->stream_.get_executor();
      asio::post(strand, [self = std::move(self), next, result = std::move(result)]() mutable {
        next(*self, std::move(result));
      });
    });
  }

  // --- the request ---

  void read_request() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(port_.header_bytes_max));
    parser_->body_limit(boost::none);  // read_body() has its own limit
    sink_.reset();
    keep_alive_ = true;
    await_client();
    if (buffer_.size() > 0) return read_header();
    restart_clock();
    stream_.async_read_some(buffer_.prepare(kFirstBytes),
                            [self = this->shared_from_this()](error_code failed, std::size_t got) {
                              if (failed == asio::error::eof) return self->end();
                              if (failed) return;
                              self->buffer_.commit(got);
                              self->read_header();
                            });
  }

  // A request that is kept in memory has one deadline from its first byte to its last. Otherwise a byte now
  // and then could hold a slot forever.
  void read_header() {
    deadline_ = Clock::now() + std::chrono::milliseconds(port_.idle_timeout_ms);
    socket().expires_at(deadline_);
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
    if (!method) return refuse(405, "this method is not supported\n");
    auto target = parse_target({header.target().data(), header.target().size()});
    if (!target) return refuse(400, "the path or the query is malformed\n");
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
    HttpRouter::Match match = port_.router.find(request_.method, request_.path);
    if (match.route == nullptr) {
      const bool known = !match.allowed.empty();
      HttpResponse response =
          text_response(known ? 405 : 404, known ? "this method is not allowed here\n" : "not here\n");
      if (known) response.headers.push_back({"Allow", match.allowed});
      keep_alive_ = keep_alive_ && parser_->is_done();
      return respond(std::move(response));
    }
    route_ = match.route;
    pace_ = route_->pace;
    slot_->works();
    at_pace([asked = Clock::now()](Connection& c) { return std::pair(asked, c.begin_request()); },
            [](Connection& c, auto begun) {
              c.deadline_ += Clock::now() - begun.first;  // exclude our own delay
              c.on_begun(std::move(begun.second));
            });
  }

  // Returns a response if the request is complete or rejected.
  std::optional<HttpResponse> begin_request() {
    if (port_.guard != nullptr) {
      if (auto refusal = (*port_.guard)(request_)) return refusal;
    }
    if (route_->upload) {
      UploadStart start = route_->upload(request_);
      if (auto* refusal = std::get_if<HttpResponse>(&start)) return std::move(*refusal);
      sink_ = std::move(std::get<std::unique_ptr<BodySink>>(start));
    }
    if (!parser_->is_done()) return std::nullopt;
    return finish_request();
  }

  HttpResponse finish_request() {
    if (!sink_) return run_handler(route_->handle, request_);
    HttpResponse response = sink_->finish();
    sink_.reset();  // now, not when the client closes: it can hold what the next one needs
    return response;
  }

  void on_begun(std::optional<HttpResponse> response) {
    if (response) {
      keep_alive_ = keep_alive_ && parser_->is_done();
      return respond(*std::move(response));
    }
    if (!sink_) {
      if (parser_->content_length().value_or(0) > body_bytes_max())
        return refuse(413, "the body is too large\n");
      await_client();
      socket().expires_at(deadline_);
    } else {
      restart_clock();
    }
    if (beast::iequals(parser_->get()[http::field::expect], "100-continue")) return welcome_body();
    read_body();
  }

  std::size_t body_bytes_max() const {
    return request_.method == HttpMethod::kGet ? std::min(kGetBodyBytesMax, port_.body_bytes_max)
                                               : port_.body_bytes_max;
  }

  void welcome_body() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue), then([](Connection& c) { c.read_body(); }));
  }

  void read_body() {
    if (parser_->is_done()) return answer();
    piece_.resize(kBodyPieceBytes);
    auto& body = parser_->get().body();
    body.data = piece_.data();
    body.size = piece_.size();
    body.more = true;
    if (sink_) restart_clock();
    http::async_read_some(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](error_code failed, std::size_t) { self->on_body(failed); });
  }

  void on_body(error_code failed) {
    if (failed && failed != http::error::need_buffer) return;
    piece_.resize(piece_.size() - parser_->get().body().size);
    if (sink_) {
      return at_pace([](Connection& c) { return c.piece_.empty() || c.sink_->write(c.piece_); },
                     [](Connection& c, bool more) {
                       if (more) return c.read_body();
                       c.keep_alive_ = false;
                       c.answer();
                     });
    }
    if (request_.body.size() + piece_.size() > body_bytes_max())
      return refuse(413, "the body is too large\n");
    if (!body_share_.grow(piece_.size())) return refuse(503, "too much data is being sent to this server\n");
    request_.body += piece_;
    read_body();
  }

  void answer() {
    slot_->works();
    at_pace([](Connection& c) { return c.finish_request(); },
            [](Connection& c, HttpResponse response) { c.respond(std::move(response)); });
  }

  // --- the response ---

  // Sends an error and closes the connection, because the rest of the request is not read.
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
    request_ = {};  // A slow reader must not keep its request in memory.
    body_share_.clear();
    restart_clock();
    if (response.after_sent) after_sent_.emplace(std::move(response.after_sent));
    if (response.source) return respond_in_pieces(std::move(response));
    whole_.emplace();
    fill_header(*whole_, response);
    const std::size_t length = response.body.size();
    if (!is_head_) whole_->body() = std::move(response.body);
    whole_->content_length(length);
    whole_->keep_alive(keep_alive_);
    await_client();
    http::async_write(stream_, *whole_, then([](Connection& c) { c.on_sent(); }));
  }

  void respond_in_pieces(HttpResponse response) {
    slot_->works();
    chunked_ = version_ >= 11;
    keep_alive_ = keep_alive_ && chunked_;  // before HTTP/1.1 only closing the connection ends such a body
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
    at_pace([](Connection& c) { return c.source_->next(c.piece_); },
            [](Connection& c, BodySource::State state) { c.on_piece(state); });
  }

  void on_piece(BodySource::State state) {
    state_ = state;
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
      // Not a direct call: a source that is quicker than the socket would grow the stack.
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
    if (keep_alive_) return read_request();
    end();
  }

  // --- the end ---

  void end() {
    await_client();
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
    piece_.resize(kBodyPieceBytes);
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
  std::unique_ptr<HttpConnectionSlot> slot_;
  const HttpPortParts& port_;

  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::buffer_body>> parser_;
  Clock::time_point deadline_;
  HttpRequest request_;
  HttpBudget::Share body_share_;
  const HttpRouter::Route* route_ = nullptr;
  HttpPace pace_ = HttpPace::kInstant;
  std::unique_ptr<BodySink> sink_;
  std::string piece_;  // of a request or response body

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
void start(Stream stream, HttpAccepted& accepted, beast::flat_buffer seen, const HttpPortParts& port) {
  std::make_shared<Connection<Stream>>(std::move(stream), accepted, port)->start(std::move(seen));
}

}  // namespace

void serve_http(HttpAccepted& accepted, beast::tcp_stream stream, beast::flat_buffer seen,
                const HttpPortParts& port) {
  if (!accepted.tls) return start(std::move(stream), accepted, std::move(seen), port);
  SSL* const session = SSL_new(accepted.tls->native());  // The stream owns it from here.
  if (session == nullptr) return;
  start(TlsStream(std::move(stream), session), accepted, std::move(seen), port);
}

}  // namespace drover::server
