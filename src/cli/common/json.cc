// SPDX-License-Identifier: Apache-2.0
#include "cli/common/json.h"

#include <utility>

#include "base/base64.h"
#include "base/json_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/common/text.h"

namespace drover::cli {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
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
  if (to_valid_utf8(node.data) == node.data) return text("data", node.data);
  return text("data_base64", to_base64(node.data));
}

std::string json_of(const Stat& stat) {
  return JsonObject()
      .text("czxid", hex_text(stat.czxid))
      .text("mzxid", hex_text(stat.mzxid))
      .text("pzxid", hex_text(stat.pzxid))
      .number("ctime", stat.ctime_ms)
      .number("mtime", stat.mtime_ms)
      .number("version", std::to_underlying(stat.version))
      .number("cversion", stat.cversion)
      .number("aversion", std::to_underlying(stat.aversion))
      .text("ephemeralOwner", hex_text(stat.ephemeral_owner))
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
