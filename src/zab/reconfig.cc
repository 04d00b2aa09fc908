// SPDX-License-Identifier: Apache-2.0
#include "zab/reconfig.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "zab/host_text.h"

namespace drover::zab {
namespace {

constexpr std::int64_t kAnyVersion = -1;
// The largest number of servers in a request; bounds the work.
constexpr std::size_t kListMax = 1000;

std::unexpected<MembershipError> refuse(ErrorCode code, std::string sentence) {
  return std::unexpected(MembershipError{std::move(sentence), code});
}

// Java's StringUtils.split: parts are trimmed, empty ones dropped.
std::vector<std::string_view> split_and_trim(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    if (!part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return parts;
}

// "server.9=zk9:2888:3888;2181". Java reads the number after the last dot, whatever precedes it.
MembershipResult<PeerSpec> parse_joiner(std::string_view text, MembershipOptions options) {
  const auto parts = split_and_trim(text, '=');
  if (parts.size() != 2) return refuse(ErrorCode::kBadArguments, "a joining server is server.N=...");
  TRY_ASSIGN(const std::int64_t id, parse_number(parts[0].substr(parts[0].rfind('.') + 1)));
  if (id < 0) return refuse(ErrorCode::kBadArguments, "a server id is a number of 0 or more");
  TRY_ASSIGN(PeerSpec server, parse_server_spec(ServerId{id}, parts[1], options));
  if (!server.client && !server.secure_client) {
    return refuse(ErrorCode::kBadArguments, "a joining server needs a client port");
  }
  return server;
}

MembershipResult<void> remove_leaving(Membership& members, std::string_view leaving) {
  for (const std::string_view text : split_and_trim(leaving, ',')) {
    TRY_ASSIGN(const std::int64_t id, parse_number(text));
    members.remove(ServerId{id});  // An unknown id is ignored.
  }
  return {};
}

using ListenAddress = std::pair<std::string, std::uint16_t>;

// Where others can reach the server. Local addresses are left out: for other servers they mean another
// machine.
std::vector<ListenAddress> public_addresses(const PeerSpec& server) {
  std::vector<ListenAddress> all;
  const auto add = [&](std::string_view host, std::uint16_t port) {
    if (!is_local_host(host)) all.emplace_back(java_host_text(host), port);
  };
  for (const PeerAddress& address : server.addresses) {
    add(address.host, address.quorum_port);
    add(address.host, address.election_port);
  }
  for (const auto& client : {server.client, server.secure_client}) {
    if (client) add(client->host, client->port);
  }
  return all;
}

// A joiner must not have an address of another server. Servers that were members before are not compared with
// each other.
MembershipResult<void> check_addresses(const Membership& members, const ServerSet& joined) {
  std::map<ListenAddress, ServerId> owners;
  for (const auto& [id, server] : members.servers()) {
    for (ListenAddress& address : public_addresses(server)) {
      const auto [entry, is_new] = owners.try_emplace(std::move(address), id);
      const ServerId other = entry->second;
      if (is_new || other == id || (!joined.contains(id) && !joined.contains(other))) continue;
      return refuse(ErrorCode::kBadArguments, "servers " + std::to_string(raw(other)) + " and " +
                                                  std::to_string(raw(id)) + " have the same address");
    }
  }
  return {};
}

MembershipResult<void> add_joining(Membership& members, std::string_view joining, MembershipOptions options) {
  const auto joiners = split_and_trim(joining, ',');
  if (joiners.size() + members.servers().size() > kListMax) {
    return refuse(ErrorCode::kBadArguments, "too many servers");
  }
  ServerSet joined;
  for (const std::string_view joiner : joiners) {
    TRY_ASSIGN(PeerSpec server, parse_joiner(joiner, options));
    joined.insert(server.id);
    members.add(std::move(server));
  }
  return check_addresses(members, joined);
}

MembershipResult<Membership> change(const Membership& last_seen, const wire::ReconfigRequest& request,
                                    MembershipOptions options) {
  if (!last_seen.groups().empty()) {
    return refuse(ErrorCode::kBadArguments,
                  "members of hierarchical quorums cannot be changed one by one; name all of them");
  }
  Membership next = last_seen;
  TRY(remove_leaving(next, request.leaving.value_or("")));
  TRY(add_joining(next, request.joining.value_or(""), options));
  return next;
}

// Java's verifier for groups does not survive a group with a server that has no weight.
MembershipResult<void> check_weights(const Membership& members) {
  for (const auto& [group, servers] : members.groups()) {
    for (const ServerId server : servers) {
      if (members.is_voter(server) || members.weights().contains(server)) continue;
      return refuse(ErrorCode::kMarshallingError, "server " + std::to_string(raw(server)) +
                                                      " is in a group, but does not vote and has no weight");
    }
  }
  return {};
}

// Java's parser of files refuses these with an exception that the reconfig code does not expect.
MembershipResult<void> check_observers(const Membership& members, const ReconfigRules& rules) {
  const std::size_t voters = members.voters().size();
  const bool observers = !members.observers().empty();
  if (voters == 0 && (!rules.standalone_enabled || observers)) {
    return refuse(ErrorCode::kMarshallingError, "no server votes");
  }
  if (voters == 1 && rules.standalone_enabled && observers) {
    return refuse(ErrorCode::kMarshallingError, "observers need an ensemble of participants to follow");
  }
  return {};
}

// Members are separated by commas or newlines.
MembershipResult<Membership> replace_all(const Membership& last_seen, std::string_view new_members,
                                         const ReconfigRules& rules) {
  std::string text(new_members);
  std::ranges::replace(text, ',', '\n');
  TRY_ASSIGN(Membership next, parse_membership(text, {.multi_address = rules.multi_address}));
  TRY(check_weights(next));
  TRY(check_observers(next, rules));
  next.set_version(last_seen.version());
  return next;
}

}  // namespace

MembershipResult<Membership> next_membership(const Membership& last_seen,
                                             const wire::ReconfigRequest& request,
                                             const ReconfigRules& rules) {
  TRY_ASSIGN(Membership next, request.new_members
                                  ? replace_all(last_seen, *request.new_members, rules)
                                  : change(last_seen, request, {.multi_address = rules.multi_address}));
  const std::size_t voters_min = rules.standalone_enabled ? 2 : 1;
  if (next.voters().size() < voters_min) {
    return refuse(ErrorCode::kBadArguments,
                  "at least " + std::to_string(voters_min) + " servers must be participants");
  }
  return next;
}

MembershipResult<Membership> decide_reconfig(const wire::ReconfigRequest& request,
                                             const ReconfigSituation& situation, const ReconfigRules& rules) {
  const Membership& last_seen = situation.last_seen;
  if (last_seen.version() != situation.committed.version()) {
    return refuse(ErrorCode::kReconfigInProgress, "another reconfiguration is in progress");
  }
  if (request.config_version != kAnyVersion && request.config_version != last_seen.version()) {
    return refuse(ErrorCode::kBadVersion,
                  "the membership has version " + hex_text(static_cast<std::uint64_t>(last_seen.version())) +
                      ", not " + hex_text(static_cast<std::uint64_t>(request.config_version)));
  }
  TRY_ASSIGN(Membership next, next_membership(last_seen, request, rules));
  if (!next.is_quorum(situation.synced)) {
    return refuse(ErrorCode::kNewConfigNoQuorum, "no quorum of the new members is connected and synced");
  }
  if (!situation.may_write_config)
    return refuse(ErrorCode::kNoAuth, "no permission to write /zookeeper/config");
  return next;
}

}  // namespace drover::zab
