// SPDX-License-Identifier: Apache-2.0
//
// Which keys have an effect. The one list behind zoo.cfg, -D and docs/configuration.md; config_foreign_keys.h
// has the others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "config/config.h"
#include "config/values.h"

namespace drover::server {

// Values whose meaning depends on others, kept as they were written until all keys are read.
struct Draft {
  std::optional<std::uint16_t> client_port;
  std::string client_address;
  std::optional<std::uint16_t> secure_client_port;
  std::string secure_client_address;
  std::optional<std::string> data_dir;
  std::optional<std::string> data_log_dir;
  std::optional<int> min_session_timeout_ms;
  std::optional<int> max_session_timeout_ms;
  std::optional<int> jute_extra_size;
  std::optional<int> session_rate_per_address;
};

struct Key {
  Setter set;
  bool secret = false;  // the value is not to be shown
};

using KeyTable = std::unordered_map<std::string, Key>;

// Every key with a fixed name, without `zookeeper.`, bound to the fields of these two, which must outlive it.
KeyTable key_table(ServerConfig& config, Draft& draft);

// The value of a key whose name is a family: authProvider.N. None: not one.
std::optional<Verdict> set_family_key(ServerConfig& config, std::string_view key, std::string_view value);

// Properties of the JVM itself, which arrive by -D only.
bool is_jvm_property(std::string_view written_key);

}  // namespace drover::server
