// SPDX-License-Identifier: Apache-2.0
#include "dashboard/json.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <charconv>

#include "base/utf8.h"

namespace drover::server {

std::string hex_of(std::int64_t id) { return fmt::format("{:#x}", static_cast<std::uint64_t>(id)); }

bool parse_hex(std::string_view text, std::int64_t& id) {
  if (!text.starts_with("0x")) return false;
  text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return false;
  id = static_cast<std::int64_t>(value);
  return true;
}

json::string valid_text(std::string_view text) {
  const std::string valid = to_valid_utf8(text);
  return json::string(valid.data(), valid.size());
}

std::string base64_of(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

bool decode_base64(std::string_view text, std::string& bytes) {
  bytes.clear();
  if (text.empty()) return true;
  if (text.size() % 4 != 0) return false;
  bytes.resize(text.size() / 4 * 3);
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length < 0) return false;
  // The library counts padding as bytes.
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(length) - padding);
  return true;
}

HttpResponse json_answer(const json::object& object) {
  HttpResponse response = json_response(200, json::serialize(object));
  response.headers.push_back({"Cache-Control", "no-store"});
  return response;
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
