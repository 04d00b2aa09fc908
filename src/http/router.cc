// SPDX-License-Identifier: Apache-2.0
#include "http/router.h"

#include <algorithm>

namespace drover::server {
namespace {

std::string_view name_of(HttpMethod method) {
  switch (method) {
    case HttpMethod::kGet: return "GET, HEAD";
    case HttpMethod::kPost: return "POST";
    case HttpMethod::kPut: return "PUT";
    case HttpMethod::kDelete: return "DELETE";
  }
  return "";
}

HttpRouter::Route route_of(HttpMethod method, std::string_view path) {
  const bool below = path.ends_with("/*");
  if (below) path.remove_suffix(2);
  HttpRouter::Route route{};
  route.method = method;
  route.path = path;
  route.below = below;
  return route;
}

bool covers(const HttpRouter::Route& route, std::string_view path) {
  if (path == route.path) return true;
  return route.below && path.starts_with(route.path) && path[route.path.size()] == '/';
}

}  // namespace

void HttpRouter::add(HttpMethod method, std::string_view path, HttpHandler handle, HttpPace pace) {
  routes_.push_back(route_of(method, path));
  routes_.back().handle = std::move(handle);
  routes_.back().pace = pace;
}

void HttpRouter::upload(std::string_view path, UploadHandler start) {
  routes_.push_back(route_of(HttpMethod::kPost, path));
  routes_.back().upload = std::move(start);
}

bool HttpRouter::has_any(HttpPace pace) const {
  return std::ranges::any_of(routes_, [pace](const Route& route) { return route.pace == pace; });
}

HttpRouter::Match HttpRouter::find(HttpMethod method, std::string_view path) const {
  // The longest matching path is the exact one, if there is an exact one.
  std::size_t longest = 0;
  bool any = false;
  for (const Route& route : routes_) {
    if (!covers(route, path)) continue;
    any = true;
    longest = std::max(longest, route.path.size());
  }
  Match match;
  if (!any) return match;
  for (const Route& route : routes_) {
    if (route.path.size() != longest || !covers(route, path)) continue;
    if (route.method == method) return {.route = &route, .allowed = {}};
    if (!match.allowed.empty()) match.allowed += ", ";
    match.allowed += name_of(route.method);
  }
  return match;
}

}  // namespace drover::server
