// SPDX-License-Identifier: Apache-2.0
//
// Paths as clients write them, where the root is "/". For the tree, whose root is "", see base/path.h.
#pragma once

#include <string>
#include <string_view>

namespace drover {

// Joins "/a" and "b" to "/a/b", and "/" and "b" to "/b".
inline std::string child_path(std::string_view parent, std::string_view name) {
  std::string path(parent == "/" ? "" : parent);
  return path.append("/").append(name);
}

// "/a/b" -> "/a", "/a" -> "/".
inline std::string_view parent_or_root(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : path.substr(0, slash);
}

}  // namespace drover
