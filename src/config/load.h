// SPDX-License-Identifier: Apache-2.0
//
// The steps of load_config(): arguments, entries, checks.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/keys.h"

namespace drover::server {

// One key with its value and its source.
struct Setting {
  enum class Origin { kFile, kCommandLine };
  std::string key;    // as key_table() spells it
  std::string value;  // trimmed
  std::string where;  // prefix of messages: "zoo.cfg:12: tickTime", "-Dzookeeper.tickTime"
  Origin origin = Origin::kFile;
  int line = 0;
};

// The parsed command line.
struct Arguments {
  std::string file;               // empty: none
  std::vector<Setting> settings;  // from PORT DATADIR … and from -D, in this order
  bool short_form = false;        // PORT DATADIR …
};

std::expected<Arguments, ConfigError> parse_arguments(std::span<const std::string> arguments);

// The entries of a file in .properties syntax.
std::expected<std::vector<Setting>, ConfigError> read_settings(const std::string& file,
                                                               const FileReader& read);

// Checks rules between keys and derives values from them. `source` is the file, for messages.
struct CheckContext {
  const std::string& source;
  const Draft& draft;
  bool from_file = false;
  bool members_outside_file = false;  // server.N or dynamicConfigFile on the command line
};
// Reads the JAAS file if there is one.
std::expected<void, ConfigError> load_sasl(LoadedConfig& loaded, const CheckContext& context,
                                           const FileReader& read);
std::expected<void, ConfigError> complete_and_check(LoadedConfig& loaded, const CheckContext& context);
std::expected<void, ConfigError> check_ensemble(LoadedConfig& loaded, const CheckContext& context);

}  // namespace drover::server
