// SPDX-License-Identifier: Apache-2.0
//
// Writes one JSON object per line, field by field, without building a tree: for streams of a million objects.
//
// Zxids and session ids are strings in hex ("0x1f"): JavaScript's numbers end at 53 bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/json_text.h"
#include "wire/jute.h"

namespace drover::tools {

class JsonObject {
 public:
  // Opens the object. `out` must outlive it.
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }

  JsonObject& text(std::string_view key, std::string_view value);
  JsonObject& number(std::string_view key, std::int64_t value);
  JsonObject& count(std::string_view key, std::uint64_t value);
  JsonObject& boolean(std::string_view key, bool value);
  JsonObject& hex(std::string_view key, std::uint64_t value);
  JsonObject& zxid(std::string_view key, Zxid value) {
    return hex(key, static_cast<std::uint64_t>(raw(value)));
  }
  JsonObject& session(std::string_view key, SessionId value) {
    return hex(key, static_cast<std::uint64_t>(raw(value)));
  }
  // A node's data: "data" if it is text, "dataBase64" if not, null if there is none.
  JsonObject& data(std::string_view prefix, const wire::Nullable& value);
  // A value that is already JSON.
  JsonObject& json(std::string_view key, std::string_view value);

  void end() { out_ += '}'; }
  void end_line() { out_ += "}\n"; }

 private:
  void key(std::string_view key);

  std::string& out_;
  bool first_ = true;
};

// "[a,b]" of values that are already JSON.
class JsonArray {
 public:
  void add(std::string_view json) {
    if (text_.size() > 1) text_ += ',';
    text_ += json;
  }
  void add_text(std::string_view text) {
    if (text_.size() > 1) text_ += ',';
    append_json_string(text_, text);
  }
  std::string take() { return std::move(text_ += ']'); }

 private:
  std::string text_ = "[";
};

}  // namespace drover::tools
