// SPDX-License-Identifier: Apache-2.0
//
// Formats zxids, times, ACLs, data and op codes, and parses numbers from the command line.
//
// Data from files may be hostile: an escape sequence in a path must not reach a terminal
// unescaped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/text.h"
#include "wire/jute.h"
#include "wire/records.h"

namespace drover::tools {

inline std::string zxid_text(Zxid zxid) { return hex_text(zxid); }
inline std::string session_text(SessionId id) { return hex_text(id); }

// The row of a table for whatever has no row of its own.
inline constexpr std::string_view kOthers = "(others)";

// "2026-11-15T08:23:38.125Z"; milliseconds that are not a valid date are printed as a number.
std::string time_text(std::int64_t ms);

// The same for a file name: "20261115T082338".
std::string moment_text(std::int64_t ms);

// "1.5 MB".
std::string bytes_text(std::uint64_t bytes);

// Escapes control characters, backslashes and malformed UTF-8 as \xNN.
std::string printable(std::string_view text);
// Prints the root, whose path in files is "", as "/".
inline std::string path_text(std::string_view path) { return path.empty() ? "/" : printable(path); }

// Valid UTF-8 without control characters other than white space.
bool is_text(std::string_view bytes);

// "null", or escaped text in quotes; shortened to `bytes_max` with a mark.
std::string data_text(const wire::Nullable& data, std::size_t bytes_max = 256);

// "world:anyone:cdrwa,digest:ann:…:r" of a jute vector<ACL>, as zkCli writes it.
std::string acl_text(std::string_view jute_list);

// "create", "setData", …: names as in ZooKeeper's log tool.
std::string_view op_name(wire::OpCode op);
std::optional<wire::OpCode> op_of_name(std::string_view name);

// The node type in the stored ephemeralOwner: "persistent", "ephemeral", "container" or "ttl".
std::string_view kind_text(std::int64_t owner);

// Hexadecimal with 0x, otherwise decimal.
std::optional<std::int64_t> parse_id(std::string_view text);

}  // namespace drover::tools
