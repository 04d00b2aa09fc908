// SPDX-License-Identifier: Apache-2.0
//
// Breaks each invariant once by hand, in an otherwise healthy ensemble. It must be reported.
#include "zab/invariants.h"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "zab/ensemble_testing.h"

namespace drover::zab {

// Gives access to private fields.
class Invariants::Breaker {
 public:
  explicit Breaker(Peer& whose) : peer(whose), history(whose.history_), epochs(whose.epochs_) {}

  Role& role() { return peer.role_; }
  PeerConfig& config() { return peer.config_; }
  Memberships& memberships() { return peer.memberships_; }
  std::deque<Zxid>& rewinds() { return peer.rewinds_; }
  std::size_t& orders_open() { return peer.orders_open_; }
  bool& discarding() { return peer.discarding_; }
  std::int64_t& round() { return peer.election_.round_; }

  Zxid& last() { return history.last_; }
  Zxid& durable() { return history.durable_; }
  Zxid& committed() { return history.committed_; }
  Zxid& applied() { return history.applied_; }
  Zxid& window_begin() { return history.window_begin_; }
  std::deque<TxnBatchPtr>& batches() { return history.batches_; }

  // Only for a leader.
  Leader::Phase& phase() { return peer.leader_->phase_; }
  std::uint32_t& epoch() { return peer.leader_->epoch_; }
  Leader::Epochs& began_with() { return peer.leader_->began_with_; }
  Zxid& began_with_last() { return peer.leader_->began_with_last_; }
  bool& epoch_promised() { return peer.leader_->epoch_promised_; }
  bool& epoch_accepted_here() { return peer.leader_->epoch_accepted_here_; }
  bool& history_current_here() { return peer.leader_->history_current_here_; }
  ServerSet& promised() { return peer.leader_->promised_; }
  std::map<ServerId, std::uint32_t>& reported() { return peer.leader_->accepted_epochs_; }
  std::map<LinkId, LearnerLink>& links() { return peer.leader_->learners_; }
  LearnerLink& link(std::int64_t server) {
    for (auto& [id, link] : links()) {
      if (link.server == ServerId{server}) return link;
    }
    ADD_FAILURE() << "no link of " << server;
    return links().begin()->second;
  }

  // Only for a learner.
  Learner::Phase& learning() { return peer.learner_->phase_; }
  Learner::Start& learner_start() { return peer.learner_->start_; }
  std::uint32_t& learner_epoch() { return peer.learner_->epoch_; }
  bool& sync_begun() { return peer.learner_->sync_begun_; }
  bool& new_leader_seen() { return peer.learner_->new_leader_seen_; }
  bool& new_leader_acked() { return peer.learner_->new_leader_acked_; }
  bool& receiving_snapshot() { return peer.learner_->receiving_snapshot_; }
  std::optional<Zxid>& level_at() { return peer.learner_->level_at_; }
  Zxid& received() { return peer.learner_->received_; }
  Zxid& learner_committed() { return peer.learner_->committed_; }
  Zxid& acked() { return peer.learner_->acked_; }

  Peer& peer;
  History& history;
  PeerStart& epochs;
};

namespace {

using testing::batch;
using testing::Disk;
using testing::Ensemble;
using testing::zx;
using Breaker = Invariants::Breaker;
using Stage = LearnerLink::Stage;

// Server 3 leads epoch 5 over 1, 2 and the observer 4; 5.1 and 5.2 are committed everywhere.
class Well {
 public:
  Well() : ensemble(3, 1) {
    for (const std::int64_t id : {1, 2, 3, 4}) {
      ensemble.disk(id) = {
          .accepted = 4, .current = 4, .snapshot = zx(4, 0), .log = {zx(4, 1), zx(4, 2), zx(4, 3)}};
    }
    ensemble.start({1, 2, 3, 4});
    ensemble.pass(300);
    for (const std::uint32_t counter : {1, 2}) {
      ensemble.propose(3, counter);
      ensemble.run();
      look(3);
    }
    EXPECT_EQ(look(3), "");
  }

  Breaker server(std::int64_t id) { return Breaker(ensemble.peer(id)); }
  std::string look(std::int64_t id) { return invariants.after_step(ensemble.peer(id), ensemble.peers()); }

  Ensemble ensemble;
  Invariants invariants;
};

struct Case {
  std::string sentence;
  std::int64_t server = 0;  // the one that is checked
  std::function<void(Well&)> harm;
};
std::ostream& operator<<(std::ostream& out, const Case& each) { return out << each.sentence; }

class BrokenInvariant : public ::testing::TestWithParam<Case> {};

TEST_P(BrokenInvariant, IsReported) {
  Well well;
  GetParam().harm(well);
  const std::string told = well.look(GetParam().server);
  EXPECT_NE(told.find("not true that " + GetParam().sentence + " ("), std::string::npos) << told;
}

const std::vector<Case> kRoles = {
    {"a server leads exactly while it has a Leader", 1, [](Well& w) { w.server(1).role() = Role::kLeading; }},
    {"a server follows exactly while it has a Learner", 1,
     [](Well& w) { w.server(1).role() = Role::kLooking; }},
    {"only voters lead", 3, [](Well& w) { w.server(3).memberships() = drover::zab::testing::voters(2); }},
    {"a leader knows its history", 3, [](Well& w) { w.server(3).epochs.knows_history = false; }},
    {"an observer only observes", 4, [](Well& w) { w.server(4).role() = Role::kFollowing; }},
    {"an epoch is accepted before it is current", 1, [](Well& w) { w.server(1).epochs.current_epoch = 6; }},
    {"no server logs transactions of an epoch that it did not accept", 1,
     [](Well& w) { w.server(1).epochs.accepted_epoch = w.server(1).epochs.current_epoch = 4; }},
    {"every rewind of the history has an open disk order", 1,
     [](Well& w) { w.server(1).rewinds().push_back(zx(4, 1)); }},
};

// Server 3 alone, looking.
void let_it_look(Well& w) {
  for (const std::int64_t id : {1, 2, 4}) w.ensemble.crash(id);
  w.ensemble.pass(2000);
  ASSERT_EQ(w.ensemble.peer(3).role(), Role::kLooking);
  ASSERT_EQ(w.look(3), "");
}
const std::vector<Case> kVotes = {
    {"a vote names the last durable transaction", 3,
     [](Well& w) {
       let_it_look(w);
       w.server(3).orders_open() = 1;
     }},
    {"a vote belongs to the current round", 3,
     [](Well& w) {
       let_it_look(w);
       ++w.server(3).round();
     }},
    {"a server does not vote while it discards its history", 3,
     [](Well& w) {
       let_it_look(w);
       w.server(3).discarding() = true;
     }},
};

const std::vector<Case> kHistory = {
    {"durable transactions were logged", 1, [](Well& w) { w.server(1).durable() = zx(5, 3); }},
    {"committed transactions were logged", 1, [](Well& w) { w.server(1).committed() = zx(5, 3); }},
    {"applied transactions are committed", 1, [](Well& w) { w.server(1).applied() = zx(5, 3); }},
    {"forgotten transactions were durable and committed", 1,
     [](Well& w) {
       w.server(1).batches().clear();
       w.server(1).window_begin() = w.server(1).last() = zx(5, 3);
     }},
    {"a history has no holes", 1,
     [](Well& w) {
       w.server(1).batches().push_back(batch({zx(5, 4)}));
       w.server(1).last() = zx(5, 4);
     }},
    {"the window ends where the history ends", 1, [](Well& w) { w.server(1).last() = zx(5, 3); }},
};

const std::vector<Case> kLeader = {
    {"a leading server has not given up", 3, [](Well& w) { w.server(3).phase() = Leader::Phase::kOver; }},
    {"discovery ends when a quorum has promised", 3, [](Well& w) { w.server(3).epoch_promised() = false; }},
    {"a leader's epoch is one that it never accepted before", 3,
     [](Well& w) { w.server(3).began_with().accepted = 5; }},
    {"a leader accepts its epoch itself, on disk", 3, [](Well& w) { w.server(3).epochs.accepted_epoch = 6; }},
    {"a leader acknowledges its own history when its epoch is current, on disk", 3,
     [](Well& w) { w.server(3).epochs.current_epoch = 4; }},
    {"a leader serves in its current epoch", 3, [](Well& w) { w.server(3).history_current_here() = false; }},
    {"the history that a leader starts with is committed", 3,
     [](Well& w) { w.server(3).committed() = w.server(3).applied() = zx(4, 2); }},
    {"only an established leader proposes", 3,
     [](Well& w) { w.server(3).phase() = Leader::Phase::kSynchronisation; }},
    {"a leader proposes in its own epoch", 3,
     [](Well& w) {
       w.server(3).epoch() = w.server(3).epochs.accepted_epoch = w.server(3).epochs.current_epoch = 7;
     }},
    {"a leader's epoch is later than all that were reported", 3,
     [](Well& w) { w.server(3).reported()[ServerId{1}] = 5; }},
    {"an epoch is chosen when a quorum has reported", 3, [](Well& w) { w.server(3).reported().clear(); }},
    {"a leader synchronises when a quorum has promised", 3,
     [](Well& w) { w.server(3).promised() = {ServerId{4}}; }},
    {"a link is stored under its own id", 3, [](Well& w) { w.server(3).link(1).link = LinkId{99}; }},
    {"a learner has one link", 3, [](Well& w) { w.server(3).link(1).server = ServerId{2}; }},
};

const std::vector<Case> kLinks = {
    {"an epoch is proposed when the leader has accepted it", 3,
     [](Well& w) { w.server(3).epoch_accepted_here() = false; }},
    {"a learner is synchronised when a quorum has promised", 3,
     [](Well& w) {
       w.server(3).epoch_promised() = false;
       w.server(3).phase() = Leader::Phase::kDiscovery;
       w.server(3).began_with_last() = w.server(3).last();
     }},
    {"a learner serves when its leader is established", 3,
     [](Well& w) {
       w.server(3).phase() = Leader::Phase::kSynchronisation;
       w.server(3).began_with_last() = w.server(3).last();
     }},
    {"a synced learner of an established leader is active", 3,
     [](Well& w) { w.server(3).link(1).stage = Stage::kSynced; }},
    {"no server follows itself", 3, [](Well& w) { w.server(3).link(1).server = ServerId{3}; }},
    {"only voters are counted", 3, [](Well& w) { w.server(3).link(4).voter = true; }},
    {"acknowledged transactions were proposed", 3, [](Well& w) { w.server(3).link(1).acked = zx(5, 3); }},
    {"a sent snapshot is not ahead of the leader", 3, [](Well& w) { w.server(3).link(1).sent = zx(5, 3); }},
    {"what a learner gets after a state or a log is in memory", 3,
     [](Well& w) {
       w.server(3).link(1).stage = Stage::kSending;
       w.server(3).link(1).sent = Zxid{-1};
     }},
    {"a ping is answered once", 3,
     [](Well& w) { w.server(3).link(1).pings_answered = w.server(3).link(1).pings_sent + 1; }},
};

const std::vector<Case> kLearner = {
    {"a following server has not given up", 1,
     [](Well& w) { w.server(1).learning() = Learner::Phase::kOver; }},
    {"a learner follows another server, which votes", 1,
     [](Well& w) { w.server(1).learner_start().leader = ServerId{4}; }},
    {"an epoch is promised when it is on disk", 1, [](Well& w) { w.server(1).epochs.accepted_epoch = 6; }},
    {"NEWLEADER is acknowledged when the epoch is current, on disk", 1,
     [](Well& w) { w.server(1).epochs.current_epoch = 4; }},
    {"NEWLEADER is acknowledged only with a known history", 1,
     [](Well& w) { w.server(1).epochs.knows_history = false; }},
    {"acknowledged transactions are on disk", 1, [](Well& w) { w.server(1).durable() = zx(5, 1); }},
    {"a serving learner knows at which zxid it was synced", 1,
     [](Well& w) { w.server(1).level_at().reset(); }},
    {"a learner is synchronised once NEWLEADER is acknowledged", 1,
     [](Well& w) { w.server(1).new_leader_acked() = false; }},
    {"NEWLEADER is acknowledged after it arrived", 1, [](Well& w) { w.server(1).new_leader_seen() = false; }},
    {"NEWLEADER comes after the history", 1, [](Well& w) { w.server(1).sync_begun() = false; }},
    {"the leader's state comes before NEWLEADER", 1,
     [](Well& w) { w.server(1).receiving_snapshot() = true; }},
    {"logged transactions were received", 1, [](Well& w) { w.server(1).received() = zx(5, 1); }},
    {"committed transactions were received", 1, [](Well& w) { w.server(1).learner_committed() = zx(5, 3); }},
    {"a learner commits only what its leader committed", 1,
     [](Well& w) { w.server(1).learner_committed() = zx(5, 1); }},
};

// --- between servers ---

void append(Breaker server, Zxid zxid, std::string_view payload) {
  server.batches().push_back(batch({zxid}, payload));
  server.last() = server.durable() = server.committed() = zxid;
}
void receive(Breaker server, Zxid zxid) {
  server.received() = server.learner_committed() = server.acked() = zxid;
}

const std::vector<Case> kEnsemble = {
    {"an epoch has one leader", 3, [](Well& w) { w.server(3).config().me = ServerId{2}; }},
    {"a serving learner follows an established leader", 1,
     [](Well& w) {
       w.server(1).learner_epoch() = w.server(1).epochs.accepted_epoch = w.server(1).epochs.current_epoch = 6;
     }},
    {"a new leader has all committed transactions", 3,
     [](Well& w) {
       // Epoch 7 begins without 5.2.
       w.server(3).epoch() = w.server(3).epochs.accepted_epoch = w.server(3).epochs.current_epoch = 7;
       w.server(3).history.truncate(zx(5, 1));
       w.server(3).began_with_last() = zx(5, 1);
       for (auto& [id, link] : w.server(3).links()) link.acked = zx(5, 1);
     }},
    {"committed transactions stay committed", 1,
     [](Well& w) {
       EXPECT_EQ(w.look(1), "");
       w.server(1).committed() = w.server(1).applied() = zx(5, 1);
     }},
    {"committed transactions are on a quorum of disks", 3,
     [](Well& w) { append(w.server(3), zx(5, 3), "payload"); }},
    {"transactions are committed in one order", 1,
     [](Well& w) {
       auto& batches = w.server(1).batches();
       ASSERT_EQ(batches[2]->first, zx(4, 3));
       batches.erase(batches.begin() + 2);  // The first of epoch 5 may follow anything, but not here.
     }},
    {"a zxid names one transaction", 1,
     [](Well& w) { w.server(1).batches().back() = batch({zx(5, 2)}, "another"); }},
    {"transactions acknowledged to a leader are on disk", 3,
     [](Well& w) {
       w.server(1).durable() = w.server(1).acked() = zx(5, 1);
       w.server(1).committed() = w.server(1).applied() = zx(5, 1);
     }},
    {"a learner commits nothing before its leader", 1,
     [](Well& w) { append(w.server(1), zx(5, 3), "payload"), receive(w.server(1), zx(5, 3)); }},
};

std::string name_of_case(const ::testing::TestParamInfo<Case>& param) {
  std::string name;
  for (const char c : param.param.sentence) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Roles, BrokenInvariant, ::testing::ValuesIn(kRoles), name_of_case);
INSTANTIATE_TEST_SUITE_P(Votes, BrokenInvariant, ::testing::ValuesIn(kVotes), name_of_case);
INSTANTIATE_TEST_SUITE_P(Histories, BrokenInvariant, ::testing::ValuesIn(kHistory), name_of_case);
INSTANTIATE_TEST_SUITE_P(Leaders, BrokenInvariant, ::testing::ValuesIn(kLeader), name_of_case);
INSTANTIATE_TEST_SUITE_P(Links, BrokenInvariant, ::testing::ValuesIn(kLinks), name_of_case);
INSTANTIATE_TEST_SUITE_P(Learners, BrokenInvariant, ::testing::ValuesIn(kLearner), name_of_case);
INSTANTIATE_TEST_SUITE_P(Ensembles, BrokenInvariant, ::testing::ValuesIn(kEnsemble), name_of_case);

}  // namespace
}  // namespace drover::zab
