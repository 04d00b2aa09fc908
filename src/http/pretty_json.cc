// SPDX-License-Identifier: Apache-2.0
#include "http/pretty_json.h"

#include <fmt/format.h>

#include "base/ensure.h"
#include "base/utf8.h"
#include "monitor/java_text.h"

namespace drover::server {
namespace {

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (static_cast<unsigned char>(c) < 0x20) {
    out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
  } else {
    out += c;
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : to_valid_utf8(text)) append_escaped(out, c);
  return out + "\"";
}

void PrettyJson::new_line() {
  out_ += '\n';
  out_.append(depth_ * 2, ' ');
}

void PrettyJson::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  ENSURE(levels_.back().array, "a value of an object has a key");
  out_ += levels_.back().empty ? " " : ", ";
  levels_.back().empty = false;
}

PrettyJson& PrettyJson::literal(std::string_view text) {
  before_value();
  out_ += text;
  return *this;
}

PrettyJson& PrettyJson::value(double number) { return literal(java_double(number)); }

PrettyJson& PrettyJson::key(std::string_view name) {
  ENSURE(!levels_.empty() && !levels_.back().array && !after_key_, "a key belongs to an object");
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  new_line();
  out_ += json_quoted(name);
  out_ += " : ";
  after_key_ = true;
  return *this;
}

PrettyJson& PrettyJson::begin_object() {
  before_value();
  out_ += '{';
  levels_.push_back({.array = false, .empty = true});
  ++depth_;
  return *this;
}

PrettyJson& PrettyJson::end_object() {
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  --depth_;
  if (empty) {
    out_ += ' ';
  } else {
    new_line();
  }
  out_ += '}';
  return *this;
}

PrettyJson& PrettyJson::begin_array() {
  before_value();
  out_ += '[';
  levels_.push_back({.array = true, .empty = true});
  return *this;
}

PrettyJson& PrettyJson::end_array() {
  levels_.pop_back();
  out_ += " ]";
  return *this;
}

}  // namespace drover::server
