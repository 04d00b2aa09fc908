// SPDX-License-Identifier: Apache-2.0
//
// The members of an ensemble, as /zookeeper/config lists them (Client::config()):
//
//   server.1=zk1:2888:3888:participant;0.0.0.0:2181
//   server.2=[2001:db8::2]:2888:3888:observer;2181
//   version=100000000
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace drover {

struct Endpoint {
  std::string host;  // a name, or an address without brackets
  std::uint16_t port = 0;
  std::string to_text() const;  // "zk1:2181", "[::1]:2181"
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// Where a member talks to other members. Both ports are on the same host.
struct PeerEndpoint {
  std::string host;
  std::uint16_t quorum_port = 0;
  std::uint16_t election_port = 0;
  friend bool operator==(const PeerEndpoint&, const PeerEndpoint&) = default;
};

struct EnsembleMember {
  std::int64_t id = 0;
  std::vector<PeerEndpoint> peers = {};  // at least one
  bool observer = false;
  // As in the text, except that 0.0.0.0 and [::] are replaced by the first peer's host. Empty: not in the
  // text.
  std::optional<Endpoint> client = {};
  std::optional<Endpoint> secure_client = {};
  std::string text = {};  // what follows "server.N="
};

struct EnsembleConfig {
  std::vector<EnsembleMember> members = {};  // in the order of the text; each id once
  std::int64_t version = 0;                  // 0: the text has none
  bool has_groups = false;                   // hierarchical quorums: groups and weights
};

// Lines that are not understood are skipped. Never throws; takes at most a thousand members.
EnsembleConfig parse_ensemble_config(std::string_view text);
// One line: "server.4=zk4:2888:3888;2181".
std::optional<EnsembleMember> parse_ensemble_member(std::string_view line);

}  // namespace drover
