// SPDX-License-Identifier: Apache-2.0
#include "cli/common/properties.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/text.h"

namespace drover::cli {
namespace {

std::string property(const Properties& properties, std::string_view name) {
  const auto found = properties.find("zookeeper." + std::string(name));
  return found == properties.end() ? std::string() : found->second;
}

// The password of a store: the given one, or the first line of the given file.
std::string password(const Properties& properties, const std::string& store) {
  std::string given = property(properties, store + ".password");
  const std::string path = property(properties, store + ".passwordPath");
  if (!given.empty() || path.empty()) return given;
  std::ifstream file(path);
  std::getline(file, given);
  return given;
}

}  // namespace

Properties parse_properties(std::string_view text) {
  Properties properties;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.empty() || line[0] == '#' || line[0] == '!') continue;
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string_view value = equals == line.size() ? "" : line.substr(equals + 1);
    properties[std::string(trimmed(line.substr(0, equals)))] = trimmed(value);
  }
  return properties;
}

std::expected<Properties, std::string> read_properties(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::unexpected("cannot read the client configuration " + path);
  return parse_properties(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::optional<TlsOptions> tls_options(const Properties& properties) {
  if (property(properties, "client.secure") != "true") return std::nullopt;
  TlsOptions tls;
  tls.trust_store = property(properties, "ssl.trustStore.location");
  tls.trust_store_password = password(properties, "ssl.trustStore");
  tls.key_store = property(properties, "ssl.keyStore.location");
  tls.key_store_password = password(properties, "ssl.keyStore");
  tls.verify_host_name = property(properties, "ssl.hostnameVerification") != "false";
  return tls;
}

}  // namespace drover::cli
