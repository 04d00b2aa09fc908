// SPDX-License-Identifier: Apache-2.0
//
// An operator who changes the members of the ensemble: adds, removes and replaces servers, changes roles and
// addresses, one after the other or all at once, whether that is wise or not. What the leader refuses does
// not happen; what it accepts must be safe.
#include <algorithm>

#include "sim/cluster.h"
#include "wire/jute.h"
#include "zab/membership_text.h"

namespace drover::sim {
namespace {

using zab::Membership;
using zab::PeerSpec;
using zab::PeerType;

void add(std::string& list, const std::string& item) { list += (list.empty() ? "" : ",") + item; }

PeerSpec random_spec(Random& random, ServerId id) {
  PeerSpec spec = simulated_server(id, one_in(random, 4) ? PeerType::kObserver : PeerType::kParticipant);
  if (one_in(random, 4)) spec.addresses.front().quorum_port = 2889;  // It has moved.
  if (one_in(random, 4)) spec.client->port = 2182;
  return spec;
}

MemberChange some_changes(Random& random, const std::vector<ServerId>& servers) {
  MemberChange change;
  for (std::uint64_t n = 1 + random.below(2); n > 0; --n) {
    const ServerId server = servers[random.below(servers.size())];
    if (one_in(random, 2)) {
      add(change.joining, line_of(random_spec(random, server)));
    } else {
      add(change.leaving, std::to_string(raw(server)));
    }
  }
  return change;
}

MemberChange new_members(Random& random, const std::vector<ServerId>& servers) {
  MemberChange change;
  for (const ServerId server : servers) {
    if (!one_in(random, 3)) add(change.all, line_of(random_spec(random, server)));
  }
  return change;
}

std::string body_of(const MemberChange& change, std::int64_t version) {
  std::string body;
  wire::Writer w(body);
  const auto text = [&](const std::string& each) { each.empty() ? w.null() : w.string(each); };
  text(change.joining);
  text(change.leaving);
  text(change.all);
  w.i64(version);
  return body;
}

}  // namespace

std::string line_of(const PeerSpec& server) {
  return "server." + std::to_string(raw(server.id)) + "=" + to_text(server);
}

void Cluster::begin_reconfiguring() {
  if (!plan_.may_reconfigure()) return;
  operator_random_.emplace(world_.fork(6));
  schedule_reconfiguration();
}

void Cluster::schedule_reconfiguration() {
  world_.after(between(*operator_random_, 0, 2 * plan_.reconfig.every), [this] {
    if (!operator_random_) return;
    reconfigure(*operator_random_);
    schedule_reconfiguration();
  });
}

void Cluster::reconfigure(Random& random) {
  // A wise operator waits until a server that has lost its disk is synced again: it counts for the size of a
  // quorum, and cannot help to make one.
  if (std::ranges::any_of(servers_, [](const auto& each) { return each->has_lost_disk(); })) return;
  const std::vector<ServerId> servers = plan_.servers();
  const bool grouped = !plan_.membership.groups().empty();
  const MemberChange change =
      grouped || one_in(random, 4) ? new_members(random, servers) : some_changes(random, servers);
  std::int64_t version = -1;
  if (SimServer* leads = leader(); leads && one_in(random, 3))
    version = leads->process()->member().peer().membership().version();
  change_members(change, version);
}

void Cluster::change_members(const MemberChange& change, std::int64_t version) {
  const auto client =
      std::ranges::find_if(clients_, [](const auto& each) { return each->client().is_connected(); });
  if (client == clients_.end()) return;
  world_.say("the operator changes the members: " + change.joining + " joining, " + change.leaving +
             " leaving, all " + change.all);
  (*client)->probe(wire::OpCode::kReconfig, body_of(change, version));
}

bool Cluster::is_quorum_lost() const {
  zab::ServerSet able;
  for (const auto& server : servers_) {
    if (server->is_up() && server->process()->has_member() && server->has_history() &&
        server->process()->member().peer().knows_history())
      able.insert(server->id());
  }
  return std::ranges::any_of(servers_, [&](const auto& server) {
    if (!able.contains(server->id())) return false;
    const auto& proposed = server->process()->member().peer().memberships().proposed();
    return proposed && !proposed->is_quorum(able);
  });
}

// It follows without serving, as long as it is there.
bool Cluster::is_removed(const SimServer& server) const {
  const zab::Peer& peer = server.process()->member().peer();
  return plan_.may_reconfigure() && peer.active() && !peer.membership().is_member(server.id());
}

}  // namespace drover::sim
