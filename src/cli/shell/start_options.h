// SPDX-License-Identifier: Apache-2.0
//
// Options of `drover cli` before the command: ZooKeeper's options, -D properties as bin/zkCli.sh passes them
// from the JVM's flags, and our own.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "cli/connection/connection.h"

namespace drover::cli {

struct StartOptions {
  ConnectionOptions connection;
  bool wait_for_connection = false;
  bool json = false;
  bool quiet = false;  // print nothing about the connection
  bool help = false;
  std::vector<std::string> command;   // empty: read lines from standard input
  std::vector<std::string> warnings;  // one line each
};

// Reads the client configuration file, too. The error is a message for the user.
std::expected<StartOptions, std::string> parse_start_options(const std::vector<std::string>& arguments);

}  // namespace drover::cli
