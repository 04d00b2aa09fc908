// SPDX-License-Identifier: Apache-2.0
//
// The JSON of a service's instance, as Curator's JsonInstanceSerializer writes and reads it.
#include <boost/json.hpp>

#include "drover/recipes/discovery.h"

namespace drover::discovery {
namespace {

namespace json = boost::json;

constexpr std::pair<ServiceType, std::string_view> kTypes[] = {
    {ServiceType::kDynamic, "DYNAMIC"},
    {ServiceType::kDynamicSequential, "DYNAMIC_SEQUENTIAL"},
    {ServiceType::kStatic, "STATIC"},
    {ServiceType::kPermanent, "PERMANENT"},
};

json::value payload_of(const Instance& instance, std::string_view java_class) {
  if (instance.payload_json.empty()) return nullptr;
  json::error_code error;
  json::value payload = json::parse(instance.payload_json, error);
  if (error) return json::string(instance.payload_json);
  const json::object* object = payload.if_object();
  if (object == nullptr || object->contains("@class")) return payload;
  json::object named;
  named["@class"] = java_class;
  for (const auto& [key, value] : *object) named[key] = value;
  return named;
}

json::value uri_of(const Instance& instance) {
  if (instance.uri_spec.empty()) return nullptr;
  json::array parts;
  for (const UriPart& part : instance.uri_spec) {
    parts.push_back(json::object{{"value", part.value}, {"variable", part.variable}});
  }
  return json::object{{"parts", std::move(parts)}};
}

json::value number_of(const std::optional<int>& number) {
  if (!number) return nullptr;
  return *number;
}

// --- reading: values of another type count as missing ---

std::string text_at(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}
std::optional<std::int64_t> integer_at(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  json::error_code error;
  const auto number = value->to_number<std::int64_t>(error);
  if (error) return std::nullopt;
  return number;
}
std::optional<int> port_at(const json::object& from, std::string_view key) {
  const auto number = integer_at(from, key);
  if (!number || *number < 0 || *number > 0xffff) return std::nullopt;
  return static_cast<int>(*number);
}
bool truth_at(const json::object& from, std::string_view key, bool otherwise) {
  const json::value* value = from.if_contains(key);
  return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

ServiceType type_at(const json::object& from) {
  const std::string text = text_at(from, "serviceType");
  for (const auto& [type, name] : kTypes) {
    if (text == name) return type;
  }
  return ServiceType::kDynamic;
}

std::vector<UriPart> uri_at(const json::object& from) {
  std::vector<UriPart> parts;
  const json::value* spec = from.if_contains("uriSpec");
  if (spec == nullptr || !spec->is_object()) return parts;
  const json::value* list = spec->get_object().if_contains("parts");
  if (list == nullptr || !list->is_array()) return parts;
  for (const json::value& each : list->get_array()) {
    if (!each.is_object()) continue;
    parts.push_back({text_at(each.get_object(), "value"), truth_at(each.get_object(), "variable", false)});
  }
  return parts;
}

}  // namespace

// `enabled` is written only if it is false: older Curators refuse the unknown key.
std::string to_json(const Instance& instance, std::string_view java_class) {
  json::object out;
  out["name"] = instance.name;
  out["id"] = instance.id;
  out["address"] = instance.address;
  out["port"] = number_of(instance.port);
  out["sslPort"] = number_of(instance.ssl_port);
  out["payload"] = payload_of(instance, java_class);
  out["registrationTimeUTC"] = instance.registered_ms;
  for (const auto& [type, name] : kTypes) {
    if (type == instance.type) out["serviceType"] = name;
  }
  out["uriSpec"] = uri_of(instance);
  if (!instance.enabled) out["enabled"] = false;
  return json::serialize(out);
}

Result<Instance> instance_of(std::string_view text) {
  json::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_object()) return fail(Errc::kBadData, {}, "not a JSON object");
  const json::object& from = value.get_object();
  Instance out{.name = text_at(from, "name"), .id = text_at(from, "id")};
  if (out.name.empty() || out.id.empty()) return fail(Errc::kBadData, {}, "the name or the id is missing");
  out.address = text_at(from, "address");
  out.port = port_at(from, "port");
  out.ssl_port = port_at(from, "sslPort");
  if (const json::value* payload = from.if_contains("payload"); payload != nullptr && !payload->is_null()) {
    out.payload_json = json::serialize(*payload);
  }
  out.registered_ms = integer_at(from, "registrationTimeUTC").value_or(0);
  out.type = type_at(from);
  out.uri_spec = uri_at(from);
  out.enabled = truth_at(from, "enabled", true);
  return out;
}

}  // namespace drover::discovery
