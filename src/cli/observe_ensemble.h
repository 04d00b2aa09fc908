// SPDX-License-Identifier: Apache-2.0
//
// Who belongs to an ensemble, and where each is reached: from the configuration in /zookeeper/config, and
// from the addresses one was given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/observe_options.h"
#include "cli/observe_words.h"
#include "drover/client.h"

namespace drover::cli::observe {

struct Member {
  std::optional<std::int64_t> sid = {};
  std::optional<Address> address = {};  // of its client port; none: the configuration does not say it
  std::string host = {};                // of its quorum port
  bool observer = false;
};

// Of "server.1=zk1:2888:3888:participant;0.0.0.0:2181", line by line; other lines are left out.
std::vector<Member> members_in(std::string_view config);

// Those of the configuration, and the given addresses that are not among them.
std::vector<Member> join_members(std::vector<Member> configured, const std::vector<Address>& given);

// The configuration as text; none: it cannot be had in that time.
std::optional<std::string> read_config(const Client& client, std::chrono::milliseconds patience);
// Asks the server for its configuration; what cannot be had is left out.
std::vector<Member> find_members(const Client& client, const std::vector<Address>& given);

struct SessionAddresses {
  std::map<std::int64_t, std::string> addresses = {};  // by session: "10.0.0.7:51312"
  std::vector<std::string> notes = {};                 // who would not tell
};
// Of the lines of `cons`.
void read_connections(std::string_view text, std::map<std::int64_t, std::string>& addresses);
SessionAddresses find_addresses(const std::vector<Member>& members);

}  // namespace drover::cli::observe
