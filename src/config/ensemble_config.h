// SPDX-License-Identifier: Apache-2.0
//
// The members of an ensemble, and ZooKeeper's text format for them:
//
//   server.1=zk1:2888:3888:participant;0.0.0.0:2181
//   server.2=zk2:2888:3888|10.0.0.2:2889:3889;2181
//   group.1=1:2:3
//   weight.1=2
//   version=100000000
//
// The same text comes from zoo.cfg, the dynamic file, /zookeeper/config and election notifications. So the
// parser trusts nothing and resolves no names.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "net/peer_origins.h"

namespace drover::server {

struct Endpoint {
  std::string host;  // name or address without brackets; empty: every address of this machine
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "zk1:2181", "[::1]:2181", and "0.0.0.0:2181" for an endpoint without a host.
std::string to_text(const Endpoint& endpoint);

enum class PeerType { kParticipant, kObserver };

struct PeerAddress {
  std::string host;
  std::uint16_t quorum_port = 0;
  std::uint16_t election_port = 0;
  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

struct PeerSpec {
  ServerId id{};
  std::vector<PeerAddress> addresses;  // never empty; more than one only with multiAddress.enabled
  PeerType type = PeerType::kParticipant;
  std::optional<Endpoint> client;  // absent: the static file's clientPort
  std::optional<Endpoint> secure_client;
  friend bool operator==(const PeerSpec&, const PeerSpec&) = default;
};

// The members and how they vote. A reconfiguration replaces all of it.
struct Membership {
  std::map<ServerId, PeerSpec> servers;
  std::map<std::int64_t, std::vector<ServerId>> groups;  // not empty: hierarchical quorums
  std::map<ServerId, std::int64_t> weights;              // a voter that is not listed has weight 1
  std::int64_t version = 0;

  std::size_t voters() const;
  std::size_t observers() const;
};

struct MembershipOptions {
  bool multi_address = false;
};

// The value of a `server.N` key. The error is a sentence without a final stop.
std::expected<PeerSpec, std::string> parse_server_spec(ServerId id, std::string_view value,
                                                       MembershipOptions options = {});

// Adds one key of the membership family: server.N, group.N, weight.N, version. `false`: not a membership key.
std::expected<bool, std::string> add_membership_key(Membership& membership, std::string_view key,
                                                    std::string_view value, MembershipOptions options = {});

// Checks rules that need all the keys: with groups, every voter is in exactly one group, and so on.
std::expected<void, std::string> check_membership(const Membership& membership);

// ZooKeeper's canonical text, as in /zookeeper/config: one line per server in the order of their ids, then
// groups and weights, then `version=<hex>` without a newline.
std::string to_text(const PeerSpec& server);
std::string to_text(const Membership& membership);

// Settings that matter only in an ensemble.
struct EnsembleConfig {
  Membership members;
  std::optional<ServerId> my_id;    // from the myid file
  std::string dynamic_config_file;  // empty: members came from the static file
  int init_limit_ticks = 0;
  int sync_limit_ticks = 0;
  int connect_to_learner_master_limit_ticks = 0;  // 0: init_limit_ticks
  PeerType peer_type = PeerType::kParticipant;
  bool standalone_enabled = true;
  bool reconfig_enabled = false;
  bool quorum_listen_on_all_ips = false;
  bool local_sessions_enabled = false;
  bool local_sessions_upgrading_enabled = false;
  bool leader_serves = true;
  bool ssl_quorum = false;
  bool port_unification = false;
  bool ssl_quorum_reload_cert_files = false;
  bool multi_address = false;
  // Must servers connect from their configured addresses? (net/peer_origins.h)
  net::OriginCheck origin_check = net::OriginCheck::kLearned;
  int leader_silence_limit_ms = -1;       // -1: a tick, at least two seconds; 0: only syncLimit applies
  int connect_timeout_ms = 5000;          // cnxTimeout: opening an election link
  int quorum_connection_timeout_ms = -1;  // -1: tickTime * syncLimit
  int notification_interval_min_ms = 200;
  int notification_interval_max_ms = 60000;
  int wait_for_epoch_max_ms = -1;      // -1: init_limit_ticks
  int election_port_bind_retries = 3;  // 0: forever
  bool force_snapshot_sync = false;
  int commit_log_count = 500;

  // ZooKeeper's rule for "run the quorum code": a single voter is a standalone server unless
  // standaloneEnabled is false.
  bool is_distributed() const {
    return members.voters() > 1 || (!standalone_enabled && members.voters() > 0);
  }
};

}  // namespace drover::server
