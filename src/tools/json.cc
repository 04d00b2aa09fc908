// SPDX-License-Identifier: Apache-2.0
#include "tools/json.h"

#include <iterator>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/json_text.h"
#include "tools/text.h"

namespace drover::tools {

void JsonObject::key(std::string_view key) {
  if (!first_) out_ += ',';
  first_ = false;
  out_ += '"';
  out_ += key;
  out_ += "\":";
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  key(name);
  append_json_string(out_, value);
  return *this;
}

JsonObject& JsonObject::number(std::string_view name, std::int64_t value) {
  key(name);
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonObject& JsonObject::count(std::string_view name, std::uint64_t value) {
  key(name);
  fmt::format_to(std::back_inserter(out_), "{}", value);
  return *this;
}

JsonObject& JsonObject::boolean(std::string_view name, bool value) {
  key(name);
  out_ += value ? "true" : "false";
  return *this;
}

JsonObject& JsonObject::hex(std::string_view name, std::uint64_t value) {
  key(name);
  fmt::format_to(std::back_inserter(out_), "\"0x{:x}\"", value);
  return *this;
}

JsonObject& JsonObject::data(std::string_view prefix, const wire::Nullable& value) {
  if (!value) return json(prefix, "null");
  if (is_text(*value)) return text(prefix, *value);
  return text(std::string(prefix) + "Base64", to_base64(*value));
}

JsonObject& JsonObject::json(std::string_view name, std::string_view value) {
  key(name);
  out_ += value;
  return *this;
}

}  // namespace drover::tools
