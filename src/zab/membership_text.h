// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's text format for the members of an ensemble:
//
//   server.1=zk1:2888:3888:participant;0.0.0.0:2181
//   server.2=zk2:2888:3888|10.0.0.2:2889:3889;2181
//   group.1=1:2:3                 (hierarchical quorums only)
//   weight.1=2
//   version=100000000             (hexadecimal: the zxid of the reconfig that made it; 0: from a file)
//
// The same text comes from zoo.cfg, dynamic files, /zookeeper/config, election notifications and reconfig
// requests. So the parser trusts nothing, limits everything and resolves no names.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "base/error_code.h"
#include "zab/membership.h"

namespace drover::zab {

// Why a text is no membership.
struct MembershipError {
  std::string sentence;  // without a final stop
  // What Java answers to a reconfig with this text: BADARGUMENTS, except for mistakes that its parser does
  // not catch (numbers that are none, ports that are too large). Those end as MARSHALLINGERROR.
  ErrorCode code = ErrorCode::kBadArguments;
};

template <class T>
using MembershipResult = std::expected<T, MembershipError>;

struct MembershipOptions {
  bool multi_address = false;
};

// The value of a `server.N` key.
MembershipResult<PeerSpec> parse_server_spec(ServerId id, std::string_view value,
                                             MembershipOptions options = {});

// Long.parseLong: an optional sign and digits. The base is 10 or 16.
MembershipResult<std::int64_t> parse_number(std::string_view text, int base = 10);

// Adds one key of the membership family: server.N, group.N, weight.N, version. `false`: not a membership key.
MembershipResult<bool> add_membership_key(Membership& membership, std::string_view key,
                                          std::string_view value, MembershipOptions options = {});

// Checks rules that need all the keys: with groups, every voter is in exactly one group.
MembershipResult<void> check_membership(const Membership& membership);

// A whole text in .properties syntax. Keys of other families are errors; if a key occurs twice, the last one
// wins, as in Java. A text without any server is a valid, empty membership.
MembershipResult<Membership> parse_membership(std::string_view text, MembershipOptions options = {});

// "zk1:2181", "[::1]:2181", and "0.0.0.0:2181" for an endpoint without a host.
std::string to_text(const Endpoint& endpoint);

// Java's canonical text, as in /zookeeper/config: one line per server in the order of their ids, then groups
// and weights, then `version=<hex>` without a newline. (Java's order is that of its hash map, which differs
// for larger ids.)
std::string to_text(const PeerSpec& server);
std::string to_text(const Membership& membership);
// For log lines.
std::string on_one_line(std::string_view text);

// The text of a dynamic file: the same lines in the order of their characters, without a last newline. The
// version is in the name of the file, except for the file of a proposed membership.
//
//   zoo.cfg.dynamic.100000000
//
// 0 if the name does not end in a number.
std::int64_t version_of_file_name(std::string_view name);
enum class VersionLine { kLeftOut, kWritten };
std::string file_text(const Membership& membership, VersionLine version);

}  // namespace drover::zab
