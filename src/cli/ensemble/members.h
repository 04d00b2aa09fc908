// SPDX-License-Identifier: Apache-2.0
//
// The members of an ensemble and their addresses, from /zookeeper/config and from the addresses
// given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/options.h"
#include "cli/ensemble/four_letter_words.h"
#include "drover/client.h"

namespace drover::cli::observe {

struct Member {
  std::optional<std::int64_t> sid = {};
  std::optional<Address> address = {};  // of its client port; empty: not in the configuration
  std::string host = {};                // of its quorum port
  bool observer = false;
};

// Parses lines such as "server.1=zk1:2888:3888:participant;0.0.0.0:2181"; other lines are ignored.
std::vector<Member> members_in(std::string_view config);

// The members of the configuration, and the given addresses that are not among them.
std::vector<Member> join_members(std::vector<Member> configured, const std::vector<Address>& given);

// The configuration as text; empty: it could not be read in time.
std::optional<std::string> read_config(const Client& client, std::chrono::milliseconds patience);
// Asks the server for its configuration; missing parts are left empty.
std::vector<Member> find_members(const Client& client, const std::vector<Address>& given);

struct SessionAddresses {
  std::map<std::int64_t, std::string> addresses = {};  // by session: "10.0.0.7:51312"
  std::vector<std::string> notes = {};                 // servers that did not answer
};
// Parses the output of `cons`.
void read_connections(std::string_view text, std::map<std::int64_t, std::string>& addresses);
SessionAddresses find_addresses(const std::vector<Member>& members);

}  // namespace drover::cli::observe
