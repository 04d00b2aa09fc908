// SPDX-License-Identifier: Apache-2.0
//
// Paths and their parts.
#pragma once

#include <string>
#include <string_view>

namespace drover::recipes {

// Joins "/a" and "b" to "/a/b", and "/" and "b" to "/b".
inline std::string child_path(std::string_view parent, std::string_view name) {
  std::string path(parent == "/" ? "" : parent);
  return path.append("/").append(name);
}

// The part after the last slash, and the part before it (at least "/").
inline std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }
inline std::string_view parent_in(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : path.substr(0, slash);
}

}  // namespace drover::recipes
