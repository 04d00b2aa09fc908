// SPDX-License-Identifier: Apache-2.0
//
// Several sites do something all together or not at all.
//
//   recipes::TwoPhaseCommit commit(client, "/transfers");
//
//   // one process
//   auto begun = commit.coordinate("t-42", "move 10", {"east", "west"}, Wait::within(20s));
//
//   // each site
//   auto decision = commit.participate("t-42", "east", prepare, Wait::within(20s));
//   if (unwrap(sync_wait(std::move(decision))) == recipes::Decision::kCommit) apply_what_was_prepared();
//   unwrap(sync_wait(commit.acknowledge("t-42", "east")));  // carried out
//
// There is one decision, and it is kCommit only if every site has voted for it after its `prepare` said true.
// A site must be able to carry out either decision once `prepare` has said so, whatever happens to it:
// prepare durably, then say true. When a call ends without a decision, the site is in doubt, and asks
// resolve() later.
//
// Ids of transactions are used once: one that is not there was aborted (presumed abort). An aborted
// transaction is removed at once, a committed one when every site has acknowledged it. Neither Curator nor
// kazoo has it; it is the recipe of ZooKeeper's documentation, with both improvements.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "drover/client.h"

namespace drover::recipes {

enum class Decision : std::uint8_t { kCommit, kAbort };

enum class CommitForm : std::uint8_t {
  // Votes are ephemerals of their sites, and kCommit is decided in one transaction that checks them all: no
  // site was dead at that instant. If the coordinator dies, any site decides. Nobody waits for the dead.
  kCombined,
  // Sites vote in nodes that the coordinator made, and it alone decides. If it dies, sites wait.
  kCoordinator,
  // Every site watches all votes and decides by itself; the coordinator only begins. n^2 notifications, and a
  // dead site makes all others wait.
  kPeer,
};

struct TwoPhaseCommitOptions {
  CommitForm form = CommitForm::kCombined;  // the same for all
  // So long votes are waited for; then the transaction is aborted by whoever waited. Not of kPeer.
  std::chrono::milliseconds votes_within{10'000};
};

class TwoPhaseCommit {
 public:
  // Runs on the client's executor. True: this site can carry out either decision from now on.
  using Prepare = std::move_only_function<Task<Result<bool>>(std::string payload)>;

  TwoPhaseCommit(Client client, std::string root, TwoPhaseCommitOptions options = {});

  // Begins a transaction and sees to its decision, also in the next session. kNodeExists: somebody else has
  // used the id. kNoNode: this coordinator lost its session and found nothing when it came back: it was
  // aborted, or committed and carried out by all.
  Task<Result<Decision>> coordinate(std::string id, std::string payload, std::vector<std::string> sites,
                                    Wait wait = {}) const;
  // Waits until there is such a transaction, prepares, votes, and waits for the decision, through lost
  // connections and sessions. An error of `prepare` is a vote against.
  Task<Result<Decision>> participate(std::string id, std::string site, Prepare prepare, Wait wait = {}) const;
  // What was decided. In the combined form it is decided now if it was not: kCommit if all votes are there,
  // and otherwise kAbort. In the other forms this waits.
  Task<Result<Decision>> resolve(std::string id, Wait wait = {}) const;
  // The site has carried out the decision and will not ask any more.
  Task<Result<void>> acknowledge(std::string id, std::string site, Wait wait = {}) const;

 private:
  Client client_;
  std::string root_;
  TwoPhaseCommitOptions options_;
};

}  // namespace drover::recipes
