// SPDX-License-Identifier: Apache-2.0
//
// The members of an ensemble: where each one listens, which ones vote and with what weight, and which sets of
// servers form a quorum. membership_text.h reads and writes them, reconfig.h makes the next one.
//
// Hosts are kept as they were written. Nothing here resolves a name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"

namespace drover::zab {

using ServerSet = std::set<ServerId>;

struct Endpoint {
  std::string host;  // name or address without brackets; empty: every address of this machine
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

enum class PeerType { kParticipant, kObserver };

struct PeerAddress {
  std::string host;
  std::uint16_t quorum_port = 0;
  std::uint16_t election_port = 0;
  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

struct PeerSpec {
  ServerId id{};
  std::vector<PeerAddress> addresses = {};  // more than one only with multiAddress.enabled
  PeerType type = PeerType::kParticipant;
  std::optional<Endpoint> client = {};  // absent: the static file's clientPort
  std::optional<Endpoint> secure_client = {};
  friend bool operator==(const PeerSpec&, const PeerSpec&) = default;
};

// One membership. Without groups a majority decides; with groups, a majority of the groups in each of which a
// majority of the weight agrees (ZooKeeper's hierarchical quorums). A reconfiguration replaces all of it.
//
// Invariant: voters() and observers() together are the keys of servers().
class Membership {
 public:
  using Groups = std::map<std::int64_t, std::vector<ServerId>>;
  using Weights = std::map<ServerId, std::int64_t>;

  // Replaces the server with the same id.
  void add(PeerSpec server);
  void remove(ServerId server);
  void set_group(std::int64_t group, std::vector<ServerId> servers) { groups_[group] = std::move(servers); }
  void set_groups(Groups groups) { groups_ = std::move(groups); }
  void set_weight(ServerId server, std::int64_t weight) { weights_[server] = weight; }
  void set_weights(Weights weights) { weights_ = std::move(weights); }
  void set_version(std::int64_t version) { version_ = version; }

  const std::map<ServerId, PeerSpec>& servers() const { return servers_; }
  const ServerSet& voters() const { return voters_; }
  const ServerSet& observers() const { return observers_; }
  const Groups& groups() const { return groups_; }     // empty: a majority decides
  const Weights& weights() const { return weights_; }  // a voter that is not listed weighs 1
  // The zxid of the reconfiguration that made it; 0: it comes from a file and was never agreed on.
  std::int64_t version() const { return version_; }

  bool is_voter(ServerId server) const { return voters_.contains(server); }
  bool is_member(ServerId server) const { return servers_.contains(server); }
  // Without groups every voter weighs 1. A server that does not vote weighs nothing, unless `weights` lists
  // it: then it makes its group heavier, and as in Java it has no vote of its own to make up for that.
  std::int64_t weight_of(ServerId server) const;
  // Counts only the voters in the set.
  bool is_quorum(const ServerSet& servers) const;

  friend bool operator==(const Membership&, const Membership&) = default;

 private:
  std::map<ServerId, PeerSpec> servers_;
  // Kept beside the servers because every acknowledgement asks for them.
  ServerSet voters_;
  ServerSet observers_;
  Groups groups_;
  Weights weights_;
  std::int64_t version_ = 0;
};

// True if the same servers vote, with the same weights, and the same servers observe. Addresses and versions
// do not matter: two files may name one server in two ways.
bool is_same_membership(const Membership& a, const Membership& b);

}  // namespace drover::zab
