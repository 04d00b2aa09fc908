// SPDX-License-Identifier: Apache-2.0
#include "dashboard/ensemble.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "drover/version.h"
#include "runtime/clock.h"
#include "zab/membership_text.h"

namespace drover::server {
namespace {

constexpr std::int64_t kFreshMs = 1000;
constexpr std::int64_t kInterestMs = 5000;
constexpr std::chrono::milliseconds kFirstAnswerWithin{400};

using Stage = zab::LearnerLink::Stage;

std::string mode_of(const replica::Replica& replica, const zab::Peer& peer) {
  if (replica.service() == replica::Service::kReadOnly) return "read-only";
  if (replica.service() == replica::Service::kNone) return "looking";
  switch (peer.role()) {
    case zab::Role::kLeading: return "leader";
    case zab::Role::kFollowing: return "follower";
    case zab::Role::kObserving: return "observer";
    case zab::Role::kLooking: break;
  }
  return "looking";
}

// The number of changes between two zxids. Across epochs only the changes of the newer epoch are known.
std::int64_t changes_between(Zxid behind, Zxid ahead) {
  if (ahead <= behind) return 0;
  return epoch_of(behind) == epoch_of(ahead) ? raw(ahead) - raw(behind) : counter_of(ahead);
}

void add_zxid(Zxid zxid, json::object& out) {
  out["zxid"] = hex_text(zxid);
  out["epoch"] = epoch_of(zxid);
}

json::object latency(double min, double avg, double max) {
  return {{"min", min}, {"avg", avg}, {"max", max}};
}

void add_said(const ServerSaid& said, json::object& out) {
  if (said.mode.empty()) {
    out["mode"] = "looking";
    return;
  }
  out["mode"] = valid_text(said.mode);  // untrusted text
  out["version"] = valid_text(said.version);
  out["connections"] = said.connections;
  out["outstanding"] = said.outstanding;
  out["nodes"] = said.nodes;
  out["latency_ms"] = latency(said.latency_min, said.latency_avg, said.latency_max);
  add_zxid(said.zxid, out);
}

}  // namespace

OwnPlace own_place(const ServerInside& inside) {
  OwnPlace place;
  place.members = inside.config.ensemble.members;
  inside.core.look_at([&](const replica::Replica& replica, const replica::Member* member) {
    if (!member) return;
    const zab::Peer& peer = member->peer();
    place.members = peer.membership();
    place.proposed = peer.memberships().proposed();
    place.mode = mode_of(replica, peer);
    place.epoch = peer.current_epoch();
    place.why_elected = peer.why_looking();
    if (place.mode == "leader") place.leader = peer.config().me;
    if (peer.learner() && (place.mode == "follower" || place.mode == "observer"))
      place.leader = peer.learner()->leader();
    if (!peer.leader()) return;
    for (const auto& [link, learner] : peer.leader()->learners()) {
      if (learner.stage < Stage::kPromised) continue;
      place.learners[learner.server] = {.synced = learner.stage == Stage::kActive,
                                        .observer = learner.observer,
                                        .lag = changes_between(learner.acked, peer.history().last())};
    }
  });
  return place;
}

EnsembleView::EnsembleView(const ServerInside& inside) : inside_(inside) {}

std::optional<Instant> EnsembleView::next_refresh() const {
  const bool is_alone = endpoints().empty();
  std::lock_guard lock(mutex_);
  if (is_alone || looked_at_.ms == 0 || monotonic_now() - looked_at_ > kInterestMs) return std::nullopt;
  return round_ ? round_->at + kFreshMs : Instant{};
}

void EnsembleView::refresh() {
  Round round{.at = monotonic_now(), .results = {}};
  {
    TreeLock::Reading reading(inside_.lock, TreeSlot::kHttp);
    round.own = inside_.machine.last_zxid;
  }
  round.results = probe(endpoints());
  std::lock_guard lock(mutex_);
  round_ = std::move(round);
  refreshed_.notify_all();
}

// The last results. The first request waits a moment for them.
EnsembleView::Round EnsembleView::newest() {
  const bool is_alone = endpoints().empty();
  std::unique_lock lock(mutex_);
  const Instant now = monotonic_now();
  const bool stale = !round_ || now - round_->at > kInterestMs;
  looked_at_ = now;
  if (is_alone) return {};
  wake_();
  if (stale) {
    refreshed_.wait_for(lock, kFirstAnswerWithin, [&] { return round_ && now - round_->at <= kInterestMs; });
  }
  return round_.value_or(Round{});
}

// A standalone server, or a member from the configuration.
json::object EnsembleView::describe_self(const OwnPlace& place, const Facts& facts) const {
  json::object out{
      {"id", nullptr},
      {"role", "participant"},
      {"self", true},
      {"mode", place.mode},
      {"address", nullptr},
      {"lag", nullptr},
      {"link", nullptr},
      {"connections", facts.alive_connections},
      {"outstanding", facts.outstanding_requests},
      {"nodes", facts.node_count},
      {"latency_ms", latency(static_cast<double>(facts.latency_ms.min), average_of(facts.latency_ms),
                             static_cast<double>(facts.latency_ms.max))},
      {"version", kVersion},
      {"error", nullptr}};
  if (inside_.config.client) {
    Endpoint endpoint = *inside_.config.client;
    endpoint.port = static_cast<std::uint16_t>(facts.conf->client_port);
    out["address"] = to_text(endpoint);
  }
  add_zxid(facts.last_zxid, out);
  return out;
}

// The member's own answer, otherwise what this server knows about it.
json::object EnsembleView::describe_other(ServerId id, const OwnPlace& place, const Round& round) const {
  json::object out{{"id", raw(id)},     {"role", "participant"},  {"self", false},
                   {"mode", "unknown"}, {"address", nullptr},     {"lag", nullptr},
                   {"link", nullptr},   {"connections", nullptr}, {"outstanding", nullptr},
                   {"nodes", nullptr},  {"latency_ms", nullptr},  {"version", nullptr},
                   {"zxid", nullptr},   {"epoch", nullptr},       {"error", nullptr}};
  const bool joins = place.proposed && !place.members.is_member(id);
  const auto endpoints = client_endpoints(inside_.config, joins ? *place.proposed : place.members);
  if (const auto at = endpoints.find(id); at != endpoints.end()) out["address"] = to_text(at->second);
  const auto learner = place.learners.find(id);
  const bool is_learner = learner != place.learners.end();
  if (is_learner) {
    out["link"] = learner->second.synced ? "synced" : "syncing";
    if (learner->second.synced) out["mode"] = learner->second.observer ? "observer" : "follower";
  }
  if (place.leader == id) out["mode"] = "leader";
  const auto found = round.results.find(id);
  if (found != round.results.end()) {
    const ProbeResult& result = found->second;
    if (result.said) {
      add_said(*result.said, out);
    } else {
      out["mode"] = "unreachable";
      out["error"] = result.error;
    }
  }
  if (is_learner && !learner->second.observer) out["lag"] = learner->second.lag;
  return out;
}

// Who is shown, and how each server stands to the members. A guest follows the leader, but is no member: it
// is about to join, or was removed. Only the leader knows its guests.
std::map<ServerId, std::string_view> EnsembleView::standing(const OwnPlace& place) const {
  std::map<ServerId, std::string_view> all;
  for (const auto& [id, spec] : place.members.servers()) {
    const bool stays = !place.proposed || place.proposed->is_member(id);
    all[id] = stays ? "member" : "leaving";
  }
  if (place.proposed) {
    for (const auto& [id, spec] : place.proposed->servers()) all.try_emplace(id, "joining");
  }
  for (const auto& [id, learner] : place.learners) {
    if (raw(id) >= 0) all.try_emplace(id, "guest");  // A member may observe with a negative id.
  }
  all.try_emplace(*inside_.config.ensemble.my_id, "guest");
  return all;
}

json::object EnsembleView::describe(ServerId id, const OwnPlace& place, const Round& round,
                                    const Facts& facts) const {
  const bool self = id == *inside_.config.ensemble.my_id;
  json::object one = self ? describe_self(place, facts) : describe_other(id, place, round);
  one["id"] = raw(id);
  const Membership& members =
      place.proposed && !place.members.is_member(id) ? *place.proposed : place.members;
  if (members.observers().contains(id)) one["role"] = "observer";
  if (self && round.at.ms != 0) add_zxid(round.own, one);
  return one;
}

json::array EnsembleView::members(const OwnPlace& place, const Round& round, const Facts& facts) const {
  json::array out;
  const EnsembleConfig& ensemble = inside_.config.ensemble;
  if (!ensemble.is_distributed()) {
    out.push_back(describe_self(place, facts));
    return out;
  }
  // Compare zxids of the same moment. Otherwise every server would seem to lag by the writes since the others
  // were asked.
  Zxid newest = round.own;
  for (const auto& [id, result] : round.results) {
    if (result.said) newest = std::max(newest, result.said->zxid);
  }
  for (const auto& [id, stands] : standing(place)) {
    const bool self = id == *ensemble.my_id;
    json::object one = describe(id, place, round, facts);
    one["membership"] = stands;
    const auto said = round.results.find(id);
    if (self && round.at.ms != 0) one["lag"] = changes_between(round.own, newest);
    if (self && place.mode == "leader") one["lag"] = 0;
    if (one["lag"].is_null() && said != round.results.end() && said->second.said &&
        !said->second.said->mode.empty())
      one["lag"] = changes_between(said->second.said->zxid, newest);
    out.push_back(std::move(one));
  }
  return out;
}

json::object EnsembleView::server(const OwnPlace& place, const Facts& facts) const {
  const bool alone = !inside_.config.ensemble.is_distributed();
  json::object out{{"id", nullptr},
                   {"mode", place.mode},
                   {"version", kVersion},
                   {"epoch", alone ? epoch_of(facts.last_zxid) : place.epoch},
                   {"zxid", hex_text(facts.last_zxid)},
                   {"nodes", facts.node_count},
                   {"uptime_ms", monotonic_now() - inside_.started},
                   {"why_elected", valid_text(place.why_elected)}};
  if (!alone) out["id"] = raw(*inside_.config.ensemble.my_id);
  TreeLock::Reading reading(inside_.lock, TreeSlot::kHttp);
  out["sessions"] = inside_.machine.sessions.size();
  return out;
}

HttpResponse EnsembleView::answer() {
  const Round round = newest();
  const OwnPlace place = own_place(inside_);
  const Facts facts = inside_.facts({});
  json::array all = members(place, round, facts);
  std::int64_t up = 0;
  json::value leader;
  if (place.leader) leader = raw(*place.leader);
  for (const json::value& one : all) {
    const auto& mode = one.at("mode").as_string();
    const bool votes =
        place.members.is_voter(ServerId{one.at("id").is_null() ? -1 : one.at("id").as_int64()});
    if (votes && (mode == "leader" || mode == "follower")) ++up;
    if (leader.is_null() && mode == "leader") leader = one.at("id");
  }
  const auto voters = static_cast<std::int64_t>(place.members.voters().size());
  json::object out{{"server", server(place, facts)},
                   {"leader", std::move(leader)},
                   {"quorum", {{"voters", voters}, {"needed", voters / 2 + 1}, {"up", up}}},
                   {"config", {{"version", hex_text(Zxid{place.members.version()})}, {"proposed", nullptr}}},
                   {"members", std::move(all)}};
  if (place.proposed) out["config"].as_object()["proposed"] = hex_text(Zxid{place.proposed->version()});
  return json_answer(out);
}

}  // namespace drover::server
