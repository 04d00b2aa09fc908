// SPDX-License-Identifier: Apache-2.0
#include "cli/ensemble/config_text.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/text.h"
#include "drover/ensemble.h"

namespace drover::cli {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty() && line[0] != '#' && line[0] != '!') lines.push_back(line);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

// "...;0.0.0.0:2181", "...;2181" or nothing. A port alone means every address of the machine.
std::string client_address(std::string_view server) {
  const std::size_t semicolon = server.find(';');
  if (semicolon == std::string_view::npos) return {};
  const std::string_view address = trimmed(server.substr(semicolon + 1));
  return address.find(':') == std::string_view::npos ? "0.0.0.0:" + std::string(address)
                                                     : std::string(address);
}

// zkCli prints members in the order of Java's hash table (java.util.Properties, a ConcurrentHashMap), which
// differs from that of the ids. Scripts may depend on it.
std::size_t java_place(std::string_view key, std::size_t entries) {
  std::uint32_t hash = 0;
  for (const char c : key) hash = hash * 31 + static_cast<unsigned char>(c);
  std::size_t buckets = 16;
  while (entries >= buckets * 3 / 4) buckets *= 2;
  return (hash ^ (hash >> 16)) & (buckets - 1);
}

struct KeyValue {
  std::string_view key, value;
};

std::vector<KeyValue> properties_in(std::string_view text) {
  std::vector<KeyValue> found;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string_view value = trimmed(line.substr(std::min(equals + 1, line.size())));
    found.push_back({trimmed(line.substr(0, equals)), value});
  }
  return found;
}

}  // namespace

std::expected<std::string, std::string> member_lines(std::string_view text) {
  std::string members;
  for (const auto& [key, value] : properties_in(text)) {
    const bool server = key.starts_with("server.");
    const bool group = key.starts_with("group") || key.starts_with("weight");
    if (!server && !group && key != "version") {
      return std::unexpected("Unrecognised parameter: " + std::string(key));
    }
    std::string line = std::string(key) + "=" + std::string(value);
    if (server && !parse_ensemble_member(line)) {
      return std::unexpected(
          std::string(value) +
          " does not have the form server_config or server_config;client_config where server_config is the "
          "pipe separated list of host:port:port or host:port:port:type and client_config is port or "
          "host:port");
    }
    if (key != "version") members += line + "\n";
  }
  return members;
}

std::string client_addresses(std::string_view config) {
  std::string version;
  std::vector<KeyValue> all = properties_in(config);
  std::stable_sort(all.begin(), all.end(), [&](const KeyValue& a, const KeyValue& b) {
    return java_place(a.key, all.size()) < java_place(b.key, all.size());
  });
  std::string addresses;
  bool first = true;
  for (const auto& [key, value] : all) {
    if (key == "version") version = value;
    if (!key.starts_with("server.")) continue;
    if (!std::exchange(first, false)) addresses += ",";
    addresses += client_address(value);
  }
  return version + " " + addresses;
}

}  // namespace drover::cli
