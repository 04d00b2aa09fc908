// SPDX-License-Identifier: Apache-2.0
//
// A request and its response, as handlers see them: plain values, independent of the HTTP library.
//
// A handler runs on one of the HTTP side's own threads, never on an I/O thread or in the core. It can hold
// the tree's lock for as long as a four-letter word does. A body larger than a page is not built in memory:
// the response has a BodySource, which is asked for the next piece when the last one is sent. A large upload
// goes to a BodySink as it arrives.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace drover::server {

enum class HttpMethod : std::uint8_t { kGet, kPost, kPut, kDelete };

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpRequest {
  HttpMethod method = HttpMethod::kGet;                   // a HEAD is a GET without the response's body
  std::string path;                                       // decoded, without the query: "/commands/ruok"
  std::map<std::string, std::string, std::less<>> query;  // decoded; the first of equal names wins (Java)
  std::vector<HttpHeader> headers;
  std::string body;    // empty for a route with a sink
  std::string remote;  // "127.0.0.1:54321"
  std::string ip;      // "127.0.0.1", or what X-Forwarded-For says
  bool tls = false;

  // The first header with that name, case-insensitive; empty: none.
  std::string_view header(std::string_view name) const;
  // The decoded value; `otherwise` if the query has no such name.
  std::string_view parameter(std::string_view name, std::string_view otherwise = {}) const;
};

// A response body that is produced piece by piece.
class BodySource {
 public:
  virtual ~BodySource() = default;
  enum class State : std::uint8_t {
    kMore,   // a piece is ready, more may follow
    kLater,  // nothing more now (a piece may be ready): ask again after pause()
    kEnd,    // the end; a last piece may be ready
    kFailed  // close the connection, so that no client takes a part for the whole
  };
  // Appends the next piece, some tens of kilobytes at most, to the empty `piece`.
  virtual State next(std::string& piece) = 0;
  virtual std::chrono::milliseconds pause() const { return std::chrono::milliseconds(500); }
};

// Bodies are read and written in pieces of this size.
inline constexpr std::size_t kBodyPieceBytes = 64 * 1024;

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::unique_ptr<BodySource> source{};  // instead of `body`; sent in chunks
  std::vector<HttpHeader> headers{};
  // Called when the response is sent, or when the client is gone.
  std::function<void()> after_sent{};
};

// Receives a body that is too large for memory.
class BodySink {
 public:
  virtual ~BodySink() = default;
  // False: the rest is rejected. finish() returns the reason, and the connection is closed after the
  // response.
  virtual bool write(std::string_view piece) = 0;
  // Called when the whole body is written, or when write() returned false. A sink that is destroyed without
  // finish() has lost its client.
  virtual HttpResponse finish() = 0;
};

HttpResponse text_response(int status, std::string text);
HttpResponse json_response(int status, std::string json);

// How a client knows where a response's body ends.
enum class HttpBodyEnd : std::uint8_t { kLength, kChunks, kClose };

struct HttpFraming {
  unsigned version = 11;  // of HTTP: 10 or 11
  bool keep_alive = true;
  HttpBodyEnd body = HttpBodyEnd::kLength;
  std::size_t length = 0;  // of the body
};
// The status line and the headers, with the empty line after them.
std::string head_text(const HttpResponse& response, const HttpFraming& framing);

}  // namespace drover::server
