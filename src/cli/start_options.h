// SPDX-License-Identifier: Apache-2.0
//
// The words behind `drover cli`, before the command: ZooKeeper's options, -D properties as bin/zkCli.sh
// passes them on from the JVM's flags, and our own.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/connection.h"

namespace drover::cli {

using Properties = std::map<std::string, std::string, std::less<>>;

struct StartOptions {
  ConnectionOptions connection;
  bool wait_for_connection = false;
  bool json = false;
  bool quiet = false;  // nothing about the connection
  bool help = false;
  std::vector<std::string> command;   // empty: lines come from standard input
  std::vector<std::string> warnings;  // one line each
};

// The error is for the user. A client configuration file is read.
std::expected<StartOptions, std::string> parse_start_options(const std::vector<std::string>& arguments);

// zookeeper.client.secure and zookeeper.ssl.*: nothing when the connection is to be plain.
std::optional<TlsOptions> tls_options(const Properties& properties);

// "key=value" lines; # and ! begin comments.
Properties parse_properties(std::string_view text);

}  // namespace drover::cli
