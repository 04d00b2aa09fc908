// SPDX-License-Identifier: Apache-2.0
//
// Maps method and path to a handler. Filled before the server listens, then only read by its threads.
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

// The pace of a handler selects its threads (http/server.h). Quick handlers are answered even if all slow
// ones are busy or stuck.
enum class HttpPace : std::uint8_t {
  kInstant,  // never blocks: no lock of the server, no disk
  kGlance,   // looks at the server for a moment, as a probe does
  kWork      // everything else
};
inline constexpr std::size_t kHttpPaces = 3;

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;
// The sink for the body, or a response that rejects it. Called before the body is read.
using UploadStart = std::variant<std::unique_ptr<BodySink>, HttpResponse>;
using UploadHandler = std::function<UploadStart(const HttpRequest&)>;

class HttpRouter {
 public:
  struct Route {
    HttpMethod method;
    std::string path;  // without the `*`
    bool below;        // also paths below `path`
    HttpPace pace = HttpPace::kWork;
    HttpHandler handle;
    UploadHandler upload;  // instead of `handle`
  };

  void add(HttpMethod method, std::string_view path, HttpHandler handle, HttpPace pace = HttpPace::kWork);
  void get(std::string_view path, HttpHandler handle, HttpPace pace = HttpPace::kWork) {
    add(HttpMethod::kGet, path, std::move(handle), pace);
  }
  void post(std::string_view path, HttpHandler handle) { add(HttpMethod::kPost, path, std::move(handle)); }
  // A POST whose body goes to a sink.
  void upload(std::string_view path, UploadHandler start);

  struct Match {
    const Route* route = nullptr;
    std::string allowed;  // if the path exists only with other methods: "GET, HEAD, POST"
  };
  // An exact path wins over a prefix, a longer prefix over a shorter one.
  Match find(HttpMethod method, std::string_view path) const;
  bool has_any(HttpPace pace) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace drover::server
