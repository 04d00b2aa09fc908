// SPDX-License-Identifier: Apache-2.0
//
// Java's .properties syntax, as java.util.Properties.load() reads it: zoo.cfg is such a file, and so is the
// text of a membership.
//
//   # comment            ! comment
//   key=value            key: value            key value
//   path=C\:\\data\u00e9
//
// A backslash at the end of a line continues it. A comment sign at the start of the next line is then part of
// the value.
//
// One difference: Java reads each byte as a Latin-1 character. We keep the bytes, so UTF-8 stays UTF-8.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace drover {

struct Property {
  std::string key;
  std::string value;  // trailing blanks are kept, as in Java
  int line = 0;       // where the entry begins, counted from 1
  int line_end = 0;   // the line after its last one
};

struct PropertiesError {
  int line = 0;  // 0: the file as a whole
  std::string message;
};

// No real configuration is larger.
inline constexpr std::size_t kPropertiesBytesMax = std::size_t{1} << 20;

// All entries in file order. A key that occurs twice is returned twice.
std::expected<std::vector<Property>, PropertiesError> parse_properties(std::string_view text);

}  // namespace drover
