// SPDX-License-Identifier: Apache-2.0
#include "zab/memberships.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace drover::zab {

Memberships::Memberships(Membership committed, std::optional<Membership> proposed)
    : committed_(std::move(committed)), proposed_(std::move(proposed)) {
  ENSURE(!proposed_ || proposed_->version() > committed_.version(), "a proposed membership is newer");
  changed();
}

void Memberships::changed() {
  voters_ = committed_.voters();
  if (proposed_) voters_.insert(proposed_->voters().begin(), proposed_->voters().end());
  if (heard_ && heard_->version() <= last_seen().version()) heard_.reset();
  participants_ = voters_;
  if (heard_) participants_.insert(heard_->voters().begin(), heard_->voters().end());
  ++changes_;
}

bool Memberships::is_member(ServerId server) const {
  return committed_.is_member(server) || (proposed_ && proposed_->is_member(server));
}

bool Memberships::is_quorum(const ServerSet& servers) const {
  return committed_.is_quorum(servers) && (!proposed_ || proposed_->is_quorum(servers));
}

bool Memberships::is_quorum_of_either(const ServerSet& servers) const {
  return committed_.is_quorum(servers) || (proposed_ && proposed_->is_quorum(servers));
}

bool Memberships::is_quorum_for(Zxid zxid, const ServerSet& servers) const {
  const bool before = proposed_ && raw(zxid) < proposed_->version();
  return before ? committed_.is_quorum(servers) : is_quorum(servers);
}

std::int64_t Memberships::weight_of(ServerId server) const {
  std::int64_t weight = committed_.weight_of(server);
  if (proposed_) weight = std::max(weight, proposed_->weight_of(server));
  if (heard_) weight = std::max(weight, heard_->weight_of(server));
  return weight;
}

const PeerSpec* Memberships::find(ServerId server) const {
  for (const Membership* each : {&last_seen(), &committed_, heard_ ? &*heard_ : &committed_}) {
    if (const auto found = each->servers().find(server); found != each->servers().end())
      return &found->second;
  }
  return nullptr;
}

void Memberships::order_committed(Effects& effects) const {
  effects.disk.emplace_back(SaveMembership{std::make_shared<const Membership>(committed_), true});
}

void Memberships::order_proposed(Effects& effects) const {
  effects.disk.emplace_back(SaveMembership{std::make_shared<const Membership>(*proposed_), false});
}

bool Memberships::propose(Membership next, Effects& effects) {
  if (next.version() <= last_seen().version()) return false;
  if (proposed_) {
    committed_ = std::move(*proposed_);
    order_committed(effects);
  }
  proposed_ = std::move(next);
  order_proposed(effects);
  changed();
  return true;
}

bool Memberships::take_from_leader(Membership leaders, Effects& effects) {
  if (leaders.version() == last_seen().version()) return false;
  if (leaders.version() <= committed_.version()) {
    if (!proposed_) return false;
    proposed_.reset();
    effects.disk.emplace_back(WithdrawMembership{});
  } else {
    proposed_ = std::move(leaders);
    order_proposed(effects);
  }
  changed();
  return true;
}

bool Memberships::withdraw_after(Zxid last, Effects& effects) {
  if (!proposed_ || proposed_->version() <= raw(last)) return false;
  proposed_.reset();
  effects.disk.emplace_back(WithdrawMembership{});
  changed();
  return true;
}

bool Memberships::commit(Effects& effects) {
  if (!proposed_) return false;
  committed_ = std::move(*proposed_);
  proposed_.reset();
  order_committed(effects);
  changed();
  return true;
}

bool Memberships::adopt(Membership newer, Effects& effects) {
  if (newer.version() <= committed_.version()) return false;
  committed_ = std::move(newer);
  if (proposed_ && proposed_->version() <= committed_.version()) proposed_.reset();
  order_committed(effects);
  changed();
  return true;
}

bool Memberships::hear(Membership newer) {
  if (newer.version() <= last_seen().version() || (heard_ && newer.version() <= heard_->version()))
    return false;
  heard_ = std::move(newer);
  changed();
  return true;
}

void Memberships::forget_heard() {
  if (!heard_) return;
  heard_.reset();
  changed();
}

}  // namespace drover::zab
