// SPDX-License-Identifier: Apache-2.0
#include "sim/intruder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "wire/quorum.h"
#include "zab/epoch_claim.h"

namespace drover::sim {
namespace {

using wire::PacketType;

// After the numbers of servers and clients.
constexpr HostId kIntruder{60'000};
constexpr ServerId kNoMember{77};
constexpr int kLinesMax = 12;
constexpr int kCrowd = 24;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

Zxid zxid_of(std::uint32_t epoch, std::uint32_t counter) {
  return Zxid{static_cast<std::int64_t>(static_cast<std::uint64_t>(epoch) << 32 | counter)};
}

}  // namespace

Intruder::Intruder(World& world, Network& network, ElectionNet& election, const Plan& plan,
                   const Servers& servers)
    : world_(world),
      network_(network),
      election_(election),
      plan_(plan),
      servers_(servers),
      random_(world.fork(6)),
      actor_(world.new_actor()) {}

Intruder::~Intruder() { leave(); }

void Intruder::begin() {
  if (plan_.intruder.every == 0 || active_) return;
  active_ = true;
  network_.attach(kIntruder, *this, actor_);
  schedule();
}

void Intruder::leave() {
  if (!std::exchange(active_, false)) return;
  world_.stop(actor_);
  visits_.clear();
  network_.detach(kIntruder, Farewell::kReset);
}

void Intruder::schedule() {
  world_.after(between(random_, 0, 2 * plan_.intruder.every), actor_, [this] {
    act();
    schedule();
  });
}

void Intruder::act() {
  if (one_in(random_, 3)) return vote();
  visit();
}

ServerId Intruder::any_of(const zab::ServerSet& servers) {
  auto found = servers.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(random_.below(servers.size())));
  return *found;
}

// --- the quorum port ---

void Intruder::visit() {
  world_.count(Did::kForeignLearner);
  const ServerId to = servers_[random_.below(servers_.size())]->id();
  const Approach last = plan_.intruder.disturbs ? Approach::kNoVoter : Approach::kImpossibleEpoch;
  const auto approach = static_cast<Approach>(random_.below(static_cast<std::uint64_t>(last) + 1));
  // Silent connections disturb only if there are many.
  for (int i = 0; i < (approach == Approach::kSilent ? kCrowd : 1); ++i) {
    const SocketId socket = network_.dial(kIntruder, host_of(to), Port::kQuorum);
    visits_[socket] = {.approach = approach, .to = to, .in = {}, .epoch = {}};
  }
}

void Intruder::on_connected(SocketId socket) {
  const auto found = visits_.find(socket);
  if (found != visits_.end() && found->second.approach != Approach::kSilent) speak(socket);
}

void Intruder::on_bytes(SocketId socket, std::string_view bytes) {
  const auto found = visits_.find(socket);
  if (found == visits_.end()) return;
  Visit& visit = found->second;
  // Where the members can change, a future member may follow.
  const bool guest = visit.approach == Approach::kNoMember && plan_.may_reconfigure();
  if (visit.approach <= Approach::kImpossibleEpoch && !guest)
    return world_.fail("a stranger that must be turned away was told something");
  visit.heard = true;
  if (visit.epoch) return;  // The rest does not matter.
  visit.in.append(bytes);
  wire::QuorumPacket packet;
  if (wire::decode_packet(visit.in, {}, packet).status == wire::Decoded::kComplete)
    visit.epoch = epoch_of(packet.zxid);
}

void Intruder::speak_later(SocketId socket) {
  const Micros longest = plan_.timing.tick_ms * kMillisecond / 2;
  world_.after(between(random_, 0, longest), actor_, [this, socket] {
    const auto found = visits_.find(socket);
    if (found == visits_.end()) return;
    // Mostly it listens first: a process that speaks out of turn is soon disconnected.
    if (found->second.heard || one_in(random_, 8)) return speak(socket);
    speak_later(socket);
  });
}

void Intruder::speak(SocketId socket) {
  Visit& visit = visits_.at(socket);
  if (visit.lines > kLinesMax) {
    visits_.erase(socket);
    return network_.close(socket);
  }
  visit.heard = false;
  network_.send(socket, next_line(visit));
  ++visit.lines;
  speak_later(socket);
}

std::string Intruder::next_line(Visit& visit) {
  if (visit.approach == Approach::kGarbage) return garbage();
  if (visit.lines == 0) return greeting(visit);
  if (visit.lines == 1) return epoch_ack(visit);
  // The one lie that it may not tell as a voter is that it has what the leader has.
  if (visit.lines == 2 && visit.approach == Approach::kNoVoter) {
    std::string line;
    wire::append_packet(line, PacketType::kAck, zxid_of(visit.epoch.value_or(0), 0));
    return line;
  }
  return nonsense(visit);
}

std::uint32_t Intruder::latest_epoch() const {
  std::uint32_t latest = 0;
  for (const auto& server : servers_) {
    if (!server->is_up() || !server->process()->has_member()) continue;
    latest = std::max(latest, server->process()->member().peer().accepted_epoch());
  }
  return latest;
}

std::string Intruder::greeting(const Visit& visit) {
  const zab::Membership& members = plan_.membership;
  PacketType type = pick(random_, {PacketType::kFollowerInfo, PacketType::kObserverInfo});
  std::uint32_t epoch = latest_epoch() + static_cast<std::uint32_t>(random_.below(2));
  wire::LearnerInfo info{.server = any_of(members.voters())};
  switch (visit.approach) {
    case Approach::kNoMember:
      info.server = pick(random_, {kNoMember, ServerId{0}, ServerId{kLowest}, visit.to});
      break;
    case Approach::kImpossibleEpoch:
      epoch = pick<std::uint32_t>(random_, {0x7fff'fffe, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff,
                                            latest_epoch() + zab::kEpochJumpMax + 100'000});
      break;
    case Approach::kVoter: type = PacketType::kFollowerInfo; break;
    default:
      type = PacketType::kObserverInfo;
      if (members.observers().empty() || one_in(random_, 2)) break;
      type = PacketType::kFollowerInfo;
      info.server = any_of(members.observers());
  }
  std::string line;
  wire::append_packet(line, type, zxid_of(epoch, 0), wire::encode(info));
  return line;
}

// A voter's promise with a possible history would be a lie that counts.
std::string Intruder::epoch_ack(const Visit& visit) {
  const std::uint32_t epoch = visit.epoch.value_or(0);
  std::string line;
  const auto say = [&](Zxid last, std::int32_t current) {
    wire::append_packet(line, PacketType::kAckEpoch, last, wire::encode_int(current));
    return line;
  };
  switch (random_.below(4)) {
    case 0: return say(Zxid{-1}, 0);
    case 1: return say(impossible_zxid(epoch), -1);
    case 2: return say(impossible_zxid(epoch), pick<std::int32_t>(random_, {0x7fff'ffff, -7}));
    default: wire::append_packet(line, PacketType::kAckEpoch, impossible_zxid(epoch), "?"); return line;
  }
}

// A zxid that no server can have logged in this epoch.
Zxid Intruder::impossible_zxid(std::uint32_t epoch) {
  return pick(random_, {Zxid{kHighest}, Zxid{kLowest}, Zxid{-1}, zxid_of(epoch, 0xffff'ffff),
                        zxid_of(epoch + 1, 1), zxid_of(0x7fff'ffff, 5)});
}

std::string Intruder::nonsense(const Visit& visit) {
  const Zxid zxid = impossible_zxid(visit.epoch.value_or(0));
  std::string line;
  switch (random_.below(8)) {
    case 0: wire::append_packet(line, PacketType::kAck, zxid); break;
    case 1: wire::append_request_packet(line, garbage().substr(0, 7), {}); break;
    case 2: wire::append_packet(line, PacketType::kRevalidate, zxid, garbage()); break;
    case 3: wire::append_packet(line, PacketType::kPing, zxid, "not a list of sessions"); break;
    case 4: wire::append_packet(line, PacketType::kPing, zxid); break;
    case 5: wire::append_packet(line, PacketType{static_cast<std::int32_t>(random_.next())}, zxid); break;
    case 6: wire::append_packet(line, PacketType::kUpToDate, zxid); break;
    default: return garbage();
  }
  return line;
}

// Sometimes with a length that no server would wait for.
std::string Intruder::garbage() {
  std::string bytes(1 + random_.below(100), '\0');
  for (char& c : bytes) c = static_cast<char>(random_.next());
  if (!one_in(random_, 2)) return bytes;
  std::string line;
  wire::append_packet(line, PacketType::kFollowerInfo, Zxid{0});
  return line.substr(0, 12) + "\x7f\xff\xff\xff" + bytes;
}

// --- the election port ---

void Intruder::vote() {
  const zab::ServerSet voters = plan_.membership.voters();
  const SimServer& to = *servers_[random_.below(servers_.size())];
  if (!to.is_up() || !to.process()->has_member()) return;
  const zab::Peer& peer = to.process()->member().peer();
  if (!plan_.intruder.disturbs && !peer.active()) return;
  world_.count(Did::kForeignVote);
  if (one_in(random_, 8)) return election_.forge(any_of(voters), to.id(), garbage());
  wire::Notification n;
  n.state = static_cast<wire::PeerState>(random_.below(4));
  n.leader = one_in(random_, 8) ? kNoMember : any_of(voters);
  const std::int64_t round = peer.election().round();
  n.round = pick<std::int64_t>(random_, {kHighest, kLowest, 0, round, round == kHighest ? 0 : round + 1});
  n.peer_epoch = pick<std::int64_t>(random_, {kHighest, kLowest, -1, 0, 0x7fff'ffff, latest_epoch()});
  n.zxid = pick(random_, {Zxid{kHighest}, Zxid{kLowest}, Zxid{-1}, Zxid{0}, peer.history().last()});
  n.config = one_in(random_, 4) ? garbage() : "";
  std::string bytes;
  wire::append_notification(bytes, n);
  election_.forge(any_of(voters), to.id(), std::move(bytes));
}

}  // namespace drover::sim
