// SPDX-License-Identifier: Apache-2.0
#include "cli/subtree/transfer.h"

#include <boost/json.hpp>

#include "base/base64.h"
#include "cli/common/json.h"
#include "cli/common/text.h"

namespace drover::cli {
namespace {

namespace json = boost::json;

constexpr std::int64_t kFormat = 1;

std::expected<json::object, std::string> parse_object(std::string_view line) {
  json::error_code error;
  json::value value = json::parse(json::string_view(line.data(), line.size()), error);
  if (error) return std::unexpected("it is not JSON: " + error.message());
  if (!value.is_object()) return std::unexpected("it is not an object");
  return std::move(value).as_object();
}

std::optional<std::string> text_of(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->as_string());
}

std::expected<std::vector<Acl>, std::string> acl_of(const json::object& object) {
  const json::value* list = object.if_contains("acl");
  if (list == nullptr) return open_acl();
  if (!list->is_array()) return std::unexpected("\"acl\" is not a list");
  std::vector<Acl> acl;
  for (const json::value& each : list->as_array()) {
    if (!each.is_object()) return std::unexpected("an entry of \"acl\" is not an object");
    const auto scheme = text_of(each.as_object(), "scheme");
    const auto id = text_of(each.as_object(), "id");
    const auto permissions = text_of(each.as_object(), "permissions");
    if (!scheme || !id || !permissions) return std::unexpected("an entry of \"acl\" is incomplete");
    std::vector<std::string> complaints;
    const auto parsed = parse_acl("x:x:" + *permissions, complaints);
    if (!complaints.empty()) return std::unexpected(complaints.front());
    acl.push_back({parsed.at(0).permissions, *scheme, *id});
  }
  return acl;
}

std::expected<NodeData, std::string> data_of(const json::object& object) {
  NodeData node;
  if (auto encoded = text_of(object, "data_base64")) {
    auto bytes = from_base64(*encoded);
    if (!bytes) return std::unexpected("\"data_base64\" is not Base64");
    node.data = *std::move(bytes);
    return node;
  }
  const json::value* data = object.if_contains("data");
  if (data == nullptr) return std::unexpected("it has no \"data\"");
  if (data->is_null()) {
    node.is_without_data = true;
  } else if (data->is_string()) {
    node.data = std::string(data->as_string());
  } else {
    return std::unexpected("\"data\" is not a string");
  }
  return node;
}

}  // namespace

std::string export_header(const std::string& root, std::int64_t time_ms, std::size_t nodes) {
  return JsonObject()
      .number("drover_export", kFormat)
      .text("root", root)
      .number("time", time_ms)
      .number("nodes", static_cast<std::int64_t>(nodes))
      .line();
}

std::string export_line(const NodeCopy& node, const std::string& root) {
  const std::string below = root == "/" ? (node.path == "/" ? "" : node.path) : node.path.substr(root.size());
  return JsonObject().text("path", below).data(node.node).json("acl", json_of(node.acl)).line();
}

std::expected<void, std::string> check_export_header(std::string_view line) {
  const auto object = parse_object(line);
  if (!object) return std::unexpected(object.error());
  const json::value* format = object->if_contains("drover_export");
  if (format == nullptr || !format->is_int64()) return std::unexpected("it is not an export of drover cli");
  if (format->as_int64() != kFormat) return std::unexpected("it was written by a later version");
  return {};
}

std::expected<NodeCopy, std::string> parse_export_line(std::string_view line) {
  const auto object = parse_object(line);
  if (!object) return std::unexpected(object.error());
  auto path = text_of(*object, "path");
  if (!path) return std::unexpected("it has no \"path\"");
  if (!path->empty() && path_problem(*path)) return std::unexpected(*path_problem(*path));
  auto node = data_of(*object);
  if (!node) return std::unexpected(node.error());
  auto acl = acl_of(*object);
  if (!acl) return std::unexpected(acl.error());
  return NodeCopy{*std::move(path), *std::move(node), *std::move(acl)};
}

}  // namespace drover::cli
