// SPDX-License-Identifier: Apache-2.0
//
// The command line of `drover server`.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/result.h"
#include "base/text.h"
#include "config/load.h"
#include "log/log.h"

namespace drover::server {
namespace {

constexpr std::string_view kPrefix = "zookeeper.";

// Parses "-Dzookeeper.snapCount=5" without the -D. As in Java, a key without "=" has the empty value.
Setting property_setting(std::string_view property) {
  const std::size_t equals = std::min(property.find('='), property.size());
  const std::string_view written = property.substr(0, equals);
  const std::string_view key = written.starts_with(kPrefix) ? written.substr(kPrefix.size()) : written;
  const std::string_view value = property.substr(std::min(equals + 1, property.size()));
  return {.key = std::string(key),
          .value = std::string(trimmed(value)),
          .where = "-D" + escaped(written),
          .origin = Setting::Origin::kCommandLine};
}

// Drops properties of the JVM itself, so that java.net.preferIPv4Stack causes no warning.
void add_property(std::vector<Setting>& settings, std::string_view property) {
  if (!is_jvm_property(property)) settings.push_back(property_setting(property));
}

struct PositionalName {
  std::string_view shown;
  std::string_view key;
};
constexpr std::array<PositionalName, 4> kShortForm{{{"PORT", "clientPort"},
                                                    {"DATADIR", "dataDir"},
                                                    {"TICKTIME", "tickTime"},
                                                    {"MAXCNXNS", "maxClientCnxns"}}};

std::expected<void, ConfigError> sort_positional(Arguments& result, std::span<const std::string> positional) {
  if (positional.size() > kShortForm.size()) {
    return std::unexpected(ConfigError{
        "too many arguments: expected a configuration file, or PORT DATADIR [TICKTIME [MAXCNXNS]]"});
  }
  if (positional.size() == 1) {
    result.file = positional[0];
    return {};
  }
  result.short_form = !positional.empty();
  for (std::size_t i = 0; i < positional.size(); ++i) {
    result.settings.push_back({.key = std::string(kShortForm[i].key),
                               .value = positional[i],
                               .where = std::string(kShortForm[i].shown),
                               .origin = Setting::Origin::kCommandLine});
  }
  return {};
}

// Removes one shell word from the front of `text`. Understands quotes and backslashes.
std::string take_shell_word(std::string_view& text) {
  std::string word;
  char quote = 0;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '\\' && quote != '\'' && text.size() > 1) {
      text.remove_prefix(1);
      word.push_back(text.front());
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word.push_back(c);
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (static_cast<unsigned char>(c) <= ' ') {
      break;
    } else {
      word.push_back(c);
    }
  }
  return word;
}

}  // namespace

std::vector<std::string> parse_jvm_flags(std::string_view flags) {
  std::vector<std::string> properties;
  while (!(flags = trimmed(flags)).empty()) {
    std::string word = take_shell_word(flags);
    if (word.starts_with("-D") && word.size() > 2) properties.push_back(std::move(word));
  }
  return properties;
}

std::expected<Arguments, ConfigError> parse_arguments(std::span<const std::string> arguments) {
  constexpr std::string_view kJvmFlags = "--jvm-flags=";
  std::vector<std::string> positional;
  std::vector<Setting> properties;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("-D") && argument.size() > 2) {
      add_property(properties, std::string_view(argument).substr(2));
    } else if (argument.starts_with(kJvmFlags)) {
      for (const std::string& flag : parse_jvm_flags(std::string_view(argument).substr(kJvmFlags.size()))) {
        add_property(properties, std::string_view(flag).substr(2));
      }
    } else if (argument.starts_with('-')) {
      return std::unexpected(
          ConfigError{fmt::format("unknown option {}: expected -Dkey=value", escaped(argument))});
    } else {
      positional.push_back(argument);
    }
  }
  Arguments result;
  TRY(sort_positional(result, positional));
  for (Setting& property : properties) result.settings.push_back(std::move(property));
  return result;
}

}  // namespace drover::server
