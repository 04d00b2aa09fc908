// SPDX-License-Identifier: Apache-2.0
//
// The text of an ensemble's configuration: "server.1=host:2888:3888:participant;0.0.0.0:2181" and the like.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace drover::cli {

// The lines of a file about members: servers, groups and weights, without comments and blank lines. The error
// is zkCli's, about the first line that it does not know.
std::expected<std::string, std::string> member_lines(std::string_view text);

// "100000000 host:2181,host:2182": the version and the connect string, in zkCli's order.
std::string client_addresses(std::string_view config);

}  // namespace drover::cli
