// SPDX-License-Identifier: Apache-2.0
//
// How zxids, times, ACLs, data and op codes read on a screen, and how numbers are read from a command line.
//
// Whatever comes out of a file may be hostile: a path with an escape sequence in it must not reach a terminal
// as one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "wire/jute.h"
#include "wire/records.h"

namespace drover::tools {

std::string hex_text(std::uint64_t value);  // "0x1f"
inline std::string zxid_text(Zxid zxid) { return hex_text(static_cast<std::uint64_t>(raw(zxid))); }
inline std::string session_text(SessionId id) { return hex_text(static_cast<std::uint64_t>(raw(id))); }

// "2026-11-15T08:23:38.125Z"; a number of milliseconds that is no date stays one.
std::string time_text(std::int64_t ms);

// "1.5 MB", for people.
std::string bytes_text(std::uint64_t bytes);

// The text with control characters, backslashes and malformed UTF-8 as \xNN.
std::string printable(std::string_view text);
// The root's path in files is "".
inline std::string path_text(std::string_view path) { return path.empty() ? "/" : printable(path); }

// Valid UTF-8 without control characters other than white space.
bool is_text(std::string_view bytes);
std::string base64(std::string_view bytes);

// "null", or printable in quotes; what is longer than `bytes_max` is cut and says so.
std::string data_text(const wire::Nullable& data, std::size_t bytes_max = 256);

// "world:anyone:cdrwa,digest:ann:…:r" of a jute vector<ACL>, as zkCli writes it.
std::string acl_text(std::string_view jute_list);

// "create", "setData", …: the words of ZooKeeper's own log tool.
std::string_view op_name(wire::OpCode op);
std::optional<wire::OpCode> op_of_name(std::string_view name);

// What the stored ephemeralOwner says: "persistent", "ephemeral", "container", "ttl".
std::string_view kind_text(std::int64_t owner);

// Hex behind 0x, decimal otherwise.
std::optional<std::int64_t> parse_number(std::string_view text);

}  // namespace drover::tools
