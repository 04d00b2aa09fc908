// SPDX-License-Identifier: Apache-2.0
//
// Writes objects for --json and exports: one per line, keys in a fixed order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drover/types.h"

namespace drover::cli {

// In quotes. Bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
std::string json_array(const std::vector<std::string>& values);  // of values that are JSON already
std::string json_strings(const std::vector<std::string>& texts);

class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value) { return json(key, json_string(value)); }
  JsonObject& number(std::string_view key, std::int64_t value) { return json(key, std::to_string(value)); }
  JsonObject& boolean(std::string_view key, bool value) { return json(key, value ? "true" : "false"); }
  // A value that is already JSON.
  JsonObject& json(std::string_view key, std::string_view value);
  // "data": text or null; bytes that are not text become "data_base64".
  JsonObject& data(const NodeData& node);
  std::string str() const { return text_ + "}"; }
  std::string line() const { return text_ + "}\n"; }

 private:
  std::string text_ = "{";
};

std::string json_of(const Stat& stat);
std::string json_of(const std::vector<Acl>& acl);

}  // namespace drover::cli
