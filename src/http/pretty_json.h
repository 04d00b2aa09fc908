// SPDX-License-Identifier: Apache-2.0
//
// JSON exactly as ZooKeeper's AdminServer prints it: indented by two blanks, `"key" : value`, arrays on one
// line.
//
// Scripts read these answers with grep and sed as often as with a parser, so blanks and line ends matter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drover::server {

// Returns `text` in quotes, escaped for JSON. Bytes that are not UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

// Calls nest like the document; this class adds commas and indentation.
class PrettyJson {
 public:
  PrettyJson& begin_object();
  PrettyJson& end_object();
  PrettyJson& begin_array();
  PrettyJson& end_array();
  PrettyJson& key(std::string_view name);

  PrettyJson& value(std::string_view text) { return literal(json_quoted(text)); }
  PrettyJson& value(const char* text) { return value(std::string_view(text)); }
  PrettyJson& value(std::int64_t number) { return literal(std::to_string(number)); }
  PrettyJson& value(std::uint64_t number) { return literal(std::to_string(number)); }
  PrettyJson& value(int number) { return value(std::int64_t{number}); }
  PrettyJson& value(double number);  // as Java prints it: 0.0, 5.0E-4
  PrettyJson& value(bool yes) { return literal(yes ? "true" : "false"); }
  PrettyJson& null() { return literal("null"); }

  template <class Value>
  PrettyJson& field(std::string_view name, const Value& what) {
    key(name);
    return value(what);
  }

  std::string take() { return std::move(out_); }

 private:
  struct Level {
    bool array = false;
    bool empty = true;
  };
  PrettyJson& literal(std::string_view text);
  void before_value();
  void new_line();

  std::string out_;
  std::vector<Level> levels_;
  std::size_t depth_ = 0;  // nesting of objects; arrays do not indent
  bool after_key_ = false;
};

}  // namespace drover::server
