// SPDX-License-Identifier: Apache-2.0
//
// The keys that have an effect: the only list, used by zoo.cfg, -D and docs/configuration.md. foreign_keys.h
// lists the other keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "config/config.h"
#include "config/values.h"

namespace drover::server {

// Values whose meaning depends on other keys. They stay as written until all keys are read.
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
  std::string audit_class;    // audit.impl.class
  bool require_sasl = false;  // sessionRequireClientSASLAuth
};

struct Key {
  Setter set;
  bool secret = false;  // never show the value
};

using KeyTable = std::unordered_map<std::string, Key>;

// Every key with a fixed name, without `zookeeper.`. The setters write to `config` and `draft`, which must
// outlive the table.
KeyTable key_table(ServerConfig& config, Draft& draft);

// Sets a key of a family: authProvider.N, superUser.X. None: the key is in no family.
std::optional<Verdict> set_family_key(ServerConfig& config, std::string_view key, std::string_view value);

// True for properties of the JVM itself. They occur only as -D.
bool is_jvm_property(std::string_view written_key);

}  // namespace drover::server
