// SPDX-License-Identifier: Apache-2.0
//
// Method and path -> handler. Filled before the server listens, then read by its threads.
//
//   router.get("/live", [](const HttpRequest&) { return text_response(200, "yes"); }, HttpPace::kInstant);
//   router.get("/commands/*", …);                       // everything below, and "/commands" itself
//   router.upload("/restore", [](const HttpRequest&) -> UploadStart { return std::make_unique<Sink>(); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/message.h"

namespace drover::server {

// How long a handler may take decides whose thread it runs on (http/server.h): the slower may all be
// at work or stuck, and the quicker are answered all the same.
enum class HttpPace : std::uint8_t {
  kInstant,  // waits for nothing: no lock of the server, no disk
  kGlance,   // looks at the server for a moment, as a probe does
  kWork      // everything else
};
inline constexpr std::size_t kHttpPaces = 3;

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;
// Who takes the body, or the answer that makes it unwelcome. Asked before the body is read.
using UploadStart = std::variant<std::unique_ptr<BodySink>, HttpResponse>;
using UploadHandler = std::function<UploadStart(const HttpRequest&)>;

class HttpRouter {
 public:
  struct Route {
    HttpMethod method;
    std::string path;  // without the `*`
    bool below;        // also what is below `path`
    HttpPace pace = HttpPace::kWork;
    HttpHandler handle;
    UploadHandler upload;  // instead of `handle`
  };

  void add(HttpMethod method, std::string_view path, HttpHandler handle, HttpPace pace = HttpPace::kWork);
  void get(std::string_view path, HttpHandler handle, HttpPace pace = HttpPace::kWork) {
    add(HttpMethod::kGet, path, std::move(handle), pace);
  }
  void post(std::string_view path, HttpHandler handle) { add(HttpMethod::kPost, path, std::move(handle)); }
  // A POST whose body goes into a sink.
  void upload(std::string_view path, UploadHandler start);

  struct Match {
    const Route* route = nullptr;
    std::string allowed;  // when the path has only other methods: "GET, HEAD, POST"
  };
  // An exact path before a longer prefix before a shorter one.
  Match find(HttpMethod method, std::string_view path) const;
  bool has_any(HttpPace pace) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace drover::server
