// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of sessions in an ensemble: a leader's and a learner's replica, and a link between them
// that carries only the messages.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replica/testing.h"
#include "wire/quorum.h"

namespace drover::replica::testing {

inline constexpr SessionId kLearnersFirst{0x0200'0000'0000'0000};
inline constexpr zab::LinkId kLink{7};

class Pair {
 public:
  explicit Pair(ReplicaConfig config = {})
      : leader(of(config, kFirstSession)), learner(of(config, kLearnersFirst)) {
    Effects effects;
    leader.replica->begin_leading(epoch_start(1), leader.now, leader.wall, effects);
    learner.replica->begin_learning(1, learner.now);
    leader.carry_out(effects);
    settle();
  }

  // Runs until neither has anything to tell the other.
  void settle() {
    for (bool more = true; more;) {
      leader.settle();
      learner.settle();
      more = to_leader();
      more |= to_learner();
    }
  }
  void advance(std::int64_t ms) {
    leader.advance(ms);
    learner.advance(ms);
    settle();
  }

  Harness leader;
  Harness learner;
  std::vector<ToLeader> heard;  // by the leader
  bool link_holds = true;       // otherwise messages wait

 private:
  static HarnessConfig of(ReplicaConfig config, SessionId first) {
    HarnessConfig h;
    h.replica = config;
    h.leads = false;
    h.replica.first_session = first;
    return h;
  }

  bool to_leader() {
    if (!link_holds) return false;
    const auto messages = std::exchange(learner.to_leader, {});
    for (const ToLeader& message : messages) {
      heard.push_back(message);
      Effects effects;
      if (message.kind == ToLeader::Kind::kRevalidate) {
        const bool valid =
            leader.replica->revalidate(kLink, {message.session, message.timeout_ms}, leader.now, effects);
        Effects answer;
        learner.replica->on_revalidated({message.session, valid}, answer);
        learner.carry_out(answer);
      } else {
        leader.replica->on_forwarded(kLink, {message.session, message.cxid, message.op, message.body},
                                     message.who, leader.now, leader.wall, effects);
      }
      leader.carry_out(effects);
    }
    return !messages.empty();
  }

  bool to_learner() {
    if (!link_holds) return false;
    const std::size_t given = std::exchange(given_, leader.log.size());
    for (std::size_t i = given; i < leader.log.size(); ++i) {
      learner.replica->add_unapplied(leader.log[i], learner.now);
      learner.replica->on_committed(leader.log[i]->last, learner.now);
    }
    return given != given_;
  }

  std::size_t given_ = 0;
};

}  // namespace drover::replica::testing
