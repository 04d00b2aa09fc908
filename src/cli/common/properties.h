// SPDX-License-Identifier: Apache-2.0
//
// The properties of ZooKeeper's clients, from -D options or from the file of -client-configuration.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "drover/client.h"

namespace drover::cli {

using Properties = std::map<std::string, std::string, std::less<>>;

// Parses "key=value" lines; # and ! start comments.
Properties parse_properties(std::string_view text);
// The error is a message for the user.
std::expected<Properties, std::string> read_properties(const std::string& path);

// From zookeeper.client.secure and zookeeper.ssl.*; empty for a plain connection.
std::optional<TlsOptions> tls_options(const Properties& properties);

}  // namespace drover::cli
