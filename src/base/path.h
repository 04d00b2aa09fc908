// SPDX-License-Identifier: Apache-2.0
//
// Znode paths: which ones exist at all, and how they come apart.
//
// The verdict on every code point is Java ZooKeeper's (PathUtils.validatePath), which looks at UTF-16
// units after decoding: a client must not be able to tell the difference.
#pragma once

#include <string_view>

namespace drover {

// Why `path` cannot name a znode, or an empty view when it can.
std::string_view invalid_path_reason(std::string_view path);
inline bool is_valid_path(std::string_view path) { return invalid_path_reason(path).empty(); }

// "/a/b" -> "/a", "/a" -> "" (the root's other name, as the tree stores it).
// The caller has checked that there is a slash.
inline std::string_view parent_path(std::string_view path) { return path.substr(0, path.rfind('/')); }
// "/a/b" -> "b".
inline std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "/a" is within "/" and "/a", "/ab" is not within "/a".
bool is_within(std::string_view path, std::string_view ancestor);

// Nodes that every tree has and that cannot be deleted.
inline constexpr std::string_view kRootPath = "/";
inline constexpr std::string_view kZooKeeperPath = "/zookeeper";
inline constexpr std::string_view kQuotaPath = "/zookeeper/quota";
inline constexpr std::string_view kConfigPath = "/zookeeper/config";
bool is_special_path(std::string_view path);

}  // namespace drover
