// SPDX-License-Identifier: Apache-2.0
#include "http/connection.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "http/stream.h"
#include "http/text.h"
#include "log/log.h"

namespace drover::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFirstBytes = 4096;
constexpr std::size_t kGetBodyBytesMax = 4096;  // it is ignored
// For a client that still sends a rejected body: if we closed at once, it would not get our response.
constexpr std::chrono::seconds kLingerTime{2};
constexpr std::size_t kLingerBytes = 8 << 20;
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

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

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::unique_ptr<HttpStream> stream, HttpAccepted& accepted, const HttpPortParts& port)
      : stream_(std::move(stream)),
        pause_(socket().get_executor()),
        peer_(accepted.peer),
        tls_(std::move(accepted.tls)),
        slot_(std::move(accepted.slot)),
        port_(port),
        body_share_(port.bodies) {}

  void start(beast::flat_buffer seen) {
    buffer_ = std::move(seen);
    await_client();
    if (tls_) socket().expires_after(std::chrono::milliseconds(tls_->handshake_timeout_ms()));
    stream_->begin(buffer_.data(), [self = shared_from_this()](error_code failed, std::size_t used) {
      self->buffer_.consume(used);
      if (!failed) self->read_request();
    });
  }

 private:
  using Step = void (Connection::*)();
  using ParsedStep = void (Connection::*)(error_code);

  beast::tcp_stream& socket() { return stream_->socket(); }
  void restart_clock() { socket().expires_after(std::chrono::milliseconds(port_.idle_timeout_ms)); }
  // From now on the slot can go to a new connection.
  void await_client() {
    slot_->waits([weak = weak_from_this(), strand = socket().get_executor()] {
      asio::post(strand, [weak] {
        if (auto self = weak.lock()) self->socket().close();
      });
    });
  }

  // The handler of an operation that a step follows; an error ends the connection.
  HttpStream::Handler then(Step step) {
    return [self = shared_from_this(), step](error_code failed, std::size_t) {
      if (!failed) (self.get()->*step)();
    };
  }

  // Work that can block runs on a thread of the route's pace, and the next step runs here again. Nothing else
  // happens on this connection meanwhile.
  template <class Work, class Next>
  void at_pace(Work work, Next next) {
    if (pace_ == HttpPace::kInstant) return next(*this, work(*this));
    port_.threads.post(pace_, [self = shared_from_this(), work, next]() mutable {
      auto result = work(*self);
      HttpStream& stream = *self->stream_;
      stream.post([self = std::move(self), next, result = std::move(result)]() mutable {
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
    stream_->read_some(buffer_.prepare(kFirstBytes),
                       [self = shared_from_this()](error_code failed, std::size_t got) {
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
    parse(&Connection::on_header);
  }

  // Hands received bytes to the parser, and receives more until it has the header or some of the body. Never
  // calls `next` directly: a body of tiny chunks would grow the stack.
  void parse(ParsedStep next) {
    if (buffer_.size() > 0) {
      error_code failed;
      buffer_.consume(parser_->put(buffer_.data(), failed));
      if (failed != http::error::need_more) return parsed(next, failed);
    }
    stream_->read_some(buffer_.prepare(beast::read_size(buffer_, kBodyPieceBytes)),
                       [self = shared_from_this(), next](error_code failed, std::size_t got) {
                         self->buffer_.commit(got);
                         if (!failed) return self->parse(next);
                         if (failed == asio::error::eof) failed = self->parse_end();
                         self->parsed(next, failed);
                       });
  }
  void parsed(ParsedStep next, error_code failed) {
    stream_->post([self = shared_from_this(), next, failed] { (self.get()->*next)(failed); });
  }
  error_code parse_end() {
    if (!parser_->got_some()) return http::error::end_of_stream;
    error_code failed;
    parser_->put_eof(failed);
    return failed;
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
    const auto forwarded = header.find("X-Forwarded-For");
    if (port_.use_forwarded_for && forwarded != header.end())
      request_.ip = forwarded_client({forwarded->value().data(), forwarded->value().size()});
    request_.tls = tls_ != nullptr;
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
    stream_->write({asio::buffer(kContinue)}, then(&Connection::read_body));
  }

  void read_body() {
    if (parser_->is_done()) return answer();
    piece_.resize(kBodyPieceBytes);
    auto& body = parser_->get().body();
    body.data = piece_.data();
    body.size = piece_.size();
    body.more = true;
    if (sink_) restart_clock();
    parse(&Connection::on_body);
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

  void respond(HttpResponse response) {
    request_ = {};  // A slow reader must not keep its request in memory.
    body_share_.clear();
    restart_clock();
    if (response.after_sent) after_sent_.emplace(std::move(response.after_sent));
    if (response.source) return respond_in_pieces(std::move(response));
    head_ = head_text(response, {.version = version_,
                                 .keep_alive = keep_alive_,
                                 .body = HttpBodyEnd::kLength,
                                 .length = response.body.size()});
    piece_.clear();
    if (!is_head_) piece_ = std::move(response.body);
    await_client();
    stream_->write({asio::buffer(head_), asio::buffer(piece_)}, then(&Connection::on_sent));
  }

  void respond_in_pieces(HttpResponse response) {
    slot_->works();
    chunked_ = version_ >= 11;
    keep_alive_ = keep_alive_ && chunked_;  // before HTTP/1.1 only closing the connection ends such a body
    source_ = std::move(response.source);
    if (is_head_) source_.reset();
    head_ = head_text(response, {.version = version_,
                                 .keep_alive = keep_alive_,
                                 .body = chunked_ ? HttpBodyEnd::kChunks : HttpBodyEnd::kClose});
    stream_->write({asio::buffer(head_)}, then(&Connection::send_piece));
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
    if (!chunked_) return stream_->write({asio::buffer(piece_)}, then(&Connection::on_piece_sent));
    head_ = fmt::format("{:x}\r\n", piece_.size());
    stream_->write({asio::buffer(head_), asio::buffer(piece_), asio::buffer(kLineEnd)},
                   then(&Connection::on_piece_sent));
  }

  void on_piece_sent() {
    if (state_ == BodySource::State::kEnd) {
      source_.reset();
      if (!chunked_) return on_sent();
      restart_clock();
      return stream_->write({asio::buffer(kLastChunk)}, then(&Connection::on_sent));
    }
    if (state_ == BodySource::State::kMore) {
      // Not a direct call: a source that is quicker than the socket would grow the stack.
      return stream_->post([self = shared_from_this()] { self->send_piece(); });
    }
    socket().expires_never();
    pause_.expires_after(source_->pause());
    pause_.async_wait([self = shared_from_this()](error_code failed) {
      if (!failed) self->send_piece();
    });
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
    lingered_ = 0;
    stream_->end([self = shared_from_this()](error_code, std::size_t) {
      if (!self->tls_) self->linger();
    });
  }

  void linger() {
    piece_.resize(kBodyPieceBytes);
    stream_->read_some(asio::buffer(piece_), [self = shared_from_this()](error_code failed, std::size_t got) {
      self->lingered_ += got;
      if (!failed && self->lingered_ < kLingerBytes) self->linger();
    });
  }

  std::unique_ptr<HttpStream> stream_;
  asio::steady_timer pause_;
  net::Address peer_;
  std::shared_ptr<const net::TlsContext> tls_;  // null: plain
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
  std::string head_;   // of a response or of a chunk
  std::string piece_;  // of a request or response body

  bool keep_alive_ = true;
  bool is_head_ = false;
  bool chunked_ = true;
  unsigned version_ = 11;
  std::size_t lingered_ = 0;
  std::optional<AtEnd> after_sent_;
  std::unique_ptr<BodySource> source_;
  BodySource::State state_ = BodySource::State::kEnd;
};

}  // namespace

void serve_http(HttpAccepted& accepted, beast::tcp_stream socket, beast::flat_buffer seen,
                const HttpPortParts& port) {
  std::unique_ptr<HttpStream> stream;
  if (accepted.tls) {
    SSL* const session = SSL_new(accepted.tls->native());
    if (session == nullptr) return;
    stream = tls_stream(std::move(socket), session);
  } else {
    stream = plain_stream(std::move(socket));
  }
  std::make_shared<Connection>(std::move(stream), accepted, port)->start(std::move(seen));
}

}  // namespace drover::server
