// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

#include <fmt/format.h>

#include "config/values.h"

namespace drover::server {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    default: return status < 400 ? "OK" : "Error";
  }
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  for (const HttpHeader& each : headers) {
    if (equal_ignoring_case(each.name, name)) return each.value;
  }
  return {};
}

std::string_view HttpRequest::parameter(std::string_view name, std::string_view otherwise) const {
  const auto found = query.find(name);
  return found == query.end() ? otherwise : std::string_view(found->second);
}

HttpResponse text_response(int status, std::string text) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(text);
  return response;
}

HttpResponse json_response(int status, std::string json) {
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = std::move(json);
  return response;
}

std::string head_text(const HttpResponse& response, const HttpFraming& framing) {
  std::string text = fmt::format("HTTP/{}.{} {} {}\r\nServer: drover\r\n", framing.version / 10,
                                 framing.version % 10, response.status, reason_of(response.status));
  const auto add = [&](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  for (const HttpHeader& header : response.headers) add(header.name, header.value);
  if (framing.body == HttpBodyEnd::kLength) add("Content-Length", std::to_string(framing.length));
  if (framing.body == HttpBodyEnd::kChunks) add("Transfer-Encoding", "chunked");
  // Keeping the connection is the default since HTTP/1.1, and closing it before.
  if (framing.version >= 11 && !framing.keep_alive) add("Connection", "close");
  if (framing.version < 11 && framing.keep_alive) add("Connection", "keep-alive");
  return text += "\r\n";
}

}  // namespace drover::server
