// SPDX-License-Identifier: Apache-2.0
//
// Exports and imports a subtree as a file of JSON lines (docs/cli.md, "Exports"):
//
//   {"drover_export":1,"root":"/app","time":1794724364999,"nodes":2}
//   {"path":"","data":"hello","acl":[{"scheme":"world","id":"anyone","permissions":"cdrwa"}]}
//   {"path":"/sub","data_base64":"/w==","acl":[...]}
//
// Paths are relative to the root; a parent precedes its children. Null data is "data":null.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "cli/subtree/nodes.h"

namespace drover::cli {

std::string export_header(const std::string& root, std::int64_t time_ms, std::size_t nodes);
std::string export_line(const NodeCopy& node, const std::string& root);

// The error says what is wrong with the line.
std::expected<void, std::string> check_export_header(std::string_view line);
std::expected<NodeCopy, std::string> parse_export_line(std::string_view line);

}  // namespace drover::cli
