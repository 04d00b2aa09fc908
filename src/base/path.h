// SPDX-License-Identifier: Apache-2.0
//
// Znode paths: validation, parent and name.
//
// Accepts and rejects the same code points as Java ZooKeeper (PathUtils.validatePath), which checks UTF-16
// units after decoding. A client must not be able to tell the difference.
#pragma once

#include <string_view>

namespace drover {

// Why `path` cannot name a znode, or an empty view when it can.
std::string_view invalid_path_reason(std::string_view path);
inline bool is_valid_path(std::string_view path) { return invalid_path_reason(path).empty(); }

// "/a/b" -> "/a", "/a" -> "" (the tree's other name for the root). `path` must contain a slash.
inline std::string_view parent_path(std::string_view path) { return path.substr(0, path.rfind('/')); }
// "/a/b" -> "b".
inline std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "/a" is within "/" and "/a"; "/ab" is not within "/a".
bool is_within(std::string_view path, std::string_view ancestor);

// Nodes that exist in every tree and cannot be deleted.
inline constexpr std::string_view kRootPath = "/";
inline constexpr std::string_view kZooKeeperPath = "/zookeeper";
inline constexpr std::string_view kQuotaPath = "/zookeeper/quota";
inline constexpr std::string_view kConfigPath = "/zookeeper/config";
bool is_special_path(std::string_view path);

}  // namespace drover
