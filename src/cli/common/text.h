// SPDX-License-Identifier: Apache-2.0
//
// Formats stat blocks, ACLs, dates and path errors exactly as ZooKeeper's shell
// does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drover/types.h"

namespace drover::cli {

// Java's Date.toString() in the local zone: "Sun Nov 15 06:32:44 UTC 2026".
std::string date_text(std::int64_t ms);

// Eleven lines.
std::string stat_text(const Stat& stat);

// "[a, b]", in the order given.
std::string list_text(const std::vector<std::string>& items);

// "cdrwa", in this order.
std::string permissions_text(Permission permissions);

// "'world,'anyone\n: cdrwa\n" for each entry. Control characters in ids become `?`.
std::string acl_text(const std::vector<Acl>& acl);

// Parses "scheme:id:perms,scheme:id:perms". Malformed entries are skipped and reported in `complaints`.
std::vector<Acl> parse_acl(std::string_view text, std::vector<std::string>& complaints);

// Why this is not a valid path; empty if it is.
std::optional<std::string> path_problem(std::string_view path);

// Whole decimal numbers, as Integer.parseInt and Long.parseLong take them.
std::optional<std::int32_t> parse_int(std::string_view text);
std::optional<std::int64_t> parse_long(std::string_view text, int base = 10);

// Sixteen bytes on a line, in hexadecimal and as characters, in the frame that ZooKeeper 3.9 draws around
// them (Netty's prettyHexDump); nothing for no bytes.
std::string hex_dump(std::string_view bytes);

// For a terminal: control characters and malformed UTF-8 become U+FFFD; newlines and tabs stay.
std::string printable(std::string_view bytes);

}  // namespace drover::cli
