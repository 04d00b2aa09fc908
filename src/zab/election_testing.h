// SPDX-License-Identifier: Apache-2.0
//
// Shared by the election tests: ensembles, and notifications as other servers would send them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "zab/election.h"

namespace drover::zab::testing {

inline constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

inline Membership voters(std::int64_t count, std::int64_t observers = 0) {
  Membership m;
  for (std::int64_t n = 1; n <= count; ++n) m.add({.id = ServerId{n}});
  for (std::int64_t n = 1; n <= observers; ++n) {
    m.add({.id = ServerId{count + n}, .type = PeerType::kObserver});
  }
  return m;
}

// A server's own state when it starts looking.
struct History {
  std::int64_t epoch = 1;
  std::int64_t zxid = 0;
};

struct Says {
  wire::PeerState state = wire::PeerState::kLooking;
  std::int64_t leader = 0;
  std::int64_t zxid = 0;
  std::int64_t round = 1;
  std::int64_t epoch = 1;
  std::int32_t version = 2;
  std::string config = {};  // the sender's members
};

inline wire::Notification notification(const Says& says) {
  wire::Notification n;
  n.state = says.state;
  n.leader = ServerId{says.leader};
  n.zxid = Zxid{says.zxid};
  n.round = says.round;
  n.peer_epoch = says.epoch;
  n.version = says.version;
  n.config = says.config;
  return n;
}

// Server `me` of an ensemble, and what it has sent since the last sent().
class Server {
 public:
  Server(std::int64_t me, const Membership& membership, bool observer = false)
      : election(ElectionConfig{.me = ServerId{me}, .observer = observer}, membership) {}

  Server& look(const History& own = {}) {
    election.start(Zxid{own.zxid}, own.epoch, now, sends);
    return *this;
  }
  Server& hear(std::int64_t from, const Says& says) {
    election.on_notification(ServerId{from}, notification(says), now, sends);
    return *this;
  }
  Server& wait(std::int64_t ms) {
    now = now + ms;
    election.on_time(now, sends);
    return *this;
  }
  Server& unreachable(std::int64_t server) {
    election.set_reachable(ServerId{server}, false);
    return *this;
  }
  std::vector<NotificationSend> sent() { return std::exchange(sends, {}); }
  // The leader's id; 0 while looking.
  std::int64_t leader() const { return election.looking() ? 0 : raw(election.vote().leader); }

  Election election;
  Instant now{1000};
  std::vector<NotificationSend> sends;
};

inline Vote vote_of(const wire::Notification& n) { return {n.leader, n.zxid, n.round, n.peer_epoch}; }

}  // namespace drover::zab::testing
