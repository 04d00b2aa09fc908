// SPDX-License-Identifier: Apache-2.0
#include "cli/common/json.h"

#include <fmt/format.h>

#include <utility>

#include "base/base64.h"
#include "cli/common/text.h"

namespace drover::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::size_t utf8_length(std::string_view bytes) {
  for (std::size_t length = 1; length <= 4 && length <= bytes.size(); ++length) {
    if (is_utf8(bytes.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else if (static_cast<unsigned char>(c) < 0x80) {
          out += c;
        } else {
          length = utf8_length(text);
          out += length == 0 ? kReplacement : text.substr(0, length);
          length = length == 0 ? 1 : length;
        }
    }
    text.remove_prefix(length);
  }
  return out + "\"";
}

std::string json_array(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ",";
    out += value;
  }
  return out + "]";
}

std::string json_strings(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  values.reserve(texts.size());
  for (const std::string& text : texts) values.push_back(json_string(text));
  return json_array(values);
}

JsonObject& JsonObject::json(std::string_view key, std::string_view value) {
  if (text_.size() > 1) text_ += ",";
  text_.append(json_string(key)).append(":").append(value);
  return *this;
}

JsonObject& JsonObject::data(const NodeData& node) {
  if (node.is_without_data) return json("data", "null");
  if (is_utf8(node.data)) return text("data", node.data);
  return text("data_base64", to_base64(node.data));
}

std::string json_of(const Stat& stat) {
  return JsonObject()
      .text("czxid", hex(raw(stat.czxid)))
      .text("mzxid", hex(raw(stat.mzxid)))
      .text("pzxid", hex(raw(stat.pzxid)))
      .number("ctime", stat.ctime_ms)
      .number("mtime", stat.mtime_ms)
      .number("version", std::to_underlying(stat.version))
      .number("cversion", stat.cversion)
      .number("aversion", std::to_underlying(stat.aversion))
      .text("ephemeralOwner", hex(raw(stat.ephemeral_owner)))
      .number("dataLength", stat.data_length)
      .number("numChildren", stat.num_children)
      .str();
}

std::string json_of(const std::vector<Acl>& acl) {
  std::vector<std::string> entries;
  for (const Acl& each : acl) {
    entries.push_back(JsonObject()
                          .text("scheme", each.scheme)
                          .text("id", each.id)
                          .text("permissions", permissions_text(each.permissions))
                          .str());
  }
  return json_array(entries);
}

}  // namespace drover::cli
