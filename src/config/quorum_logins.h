// SPDX-License-Identifier: Apache-2.0
//
// SASL between servers: the rules of its keys, and its sections of the JAAS file.
#pragma once

#include <expected>
#include <string>

#include "config/load.h"
#include "sasl/jaas.h"

namespace drover::server {

// As ZooKeeper's rules: each step of the rolling upgrade needs the one before.
std::expected<void, ConfigError> check_quorum_sasl(const QuorumSaslSettings& settings,
                                                   const CheckContext& context);

struct NamedJaasFile {
  const std::string& path;
  const sasl::JaasFile& sections;
};
// Only on a member of an ensemble.
std::expected<void, ConfigError> load_quorum_logins(LoadedConfig& loaded, const NamedJaasFile& file);

}  // namespace drover::server
