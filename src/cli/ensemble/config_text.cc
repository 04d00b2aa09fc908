// SPDX-License-Identifier: Apache-2.0
#include "cli/ensemble/config_text.h"

#include <charconv>
#include <map>
#include <vector>

#include "base/text.h"

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

}  // namespace

std::string member_lines(std::string_view text) {
  std::string members;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("server.") || line.starts_with("group.") || line.starts_with("weight.")) {
      members.append(line).append("\n");
    }
  }
  return members;
}

std::string client_addresses(std::string_view config) {
  std::string version;
  std::map<long, std::string> addresses;
  for (const std::string_view line : lines_of(config)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (key == "version") version = value;
    if (!key.starts_with("server.")) continue;
    long id = 0;
    std::from_chars(key.data() + 7, key.data() + key.size(), id);
    addresses[id] = client_address(value);
  }
  std::string text = version + " ";
  bool first = true;
  for (const auto& [id, address] : addresses) {
    if (!first) text += ",";
    first = false;
    text += address;
  }
  return text;
}

}  // namespace drover::cli
