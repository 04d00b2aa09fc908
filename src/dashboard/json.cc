// SPDX-License-Identifier: Apache-2.0
#include "dashboard/json.h"

#include <fmt/format.h>

#include "base/number.h"
#include "base/utf8.h"

namespace drover::server {

bool parse_hex(std::string_view text, std::int64_t& id) {
  if (!text.starts_with("0x")) return false;
  text.remove_prefix(2);
  const auto value = parse_number<std::uint64_t>(text, 16);
  if (value) id = static_cast<std::int64_t>(*value);
  return value.has_value();
}

json::string valid_text(std::string_view text) {
  const std::string valid = to_valid_utf8(text);
  return json::string(valid.data(), valid.size());
}

HttpResponse json_answer(const json::object& object) {
  HttpResponse response = json_response(200, json::serialize(object));
  response.headers.push_back({"Cache-Control", "no-store"});
  return response;
}

std::size_t page_size(const HttpRequest& request, std::size_t most) {
  constexpr std::size_t kDefaultPageSize = 100;
  const auto asked = parse_number<std::size_t>(request.parameter("limit"));
  return std::clamp<std::size_t>(asked.value_or(kDefaultPageSize), 1, most);
}

HttpResponse problem(int status, std::string_view code, std::string_view sentence) {
  HttpResponse response = json_answer({{"error", code}, {"message", sentence}});
  response.status = status;
  return response;
}

HttpResponse problem(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNoNode: return problem(404, "NoNode", "There is no such node.");
    case ErrorCode::kNoAuth: return problem(403, "NoAuth", "The ACL of the node does not allow it.");
    case ErrorCode::kBadVersion: return problem(409, "BadVersion", "The node was changed in the meantime.");
    case ErrorCode::kNotEmpty: return problem(409, "NotEmpty", "The node has children.");
    case ErrorCode::kBadArguments: return problem(400, "BadArguments", "This is not a valid path.");
    default:
      return problem(500, name_of(code), fmt::format("The server refused the request: {}.", name_of(code)));
  }
}

}  // namespace drover::server
