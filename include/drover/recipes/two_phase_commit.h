// SPDX-License-Identifier: Apache-2.0
//
// Several sites do something together or not at all.
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
// There is one decision, and it is kCommit only if every site voted for it after its `prepare` returned
// true. After that, a site must be able to carry out either decision, whatever happens: prepare
// durably, then return true. If a call ends without a decision, the site is in doubt and calls
// resolve() later.
//
// Ids must not be reused: a missing transaction was aborted (presumed abort). An aborted transaction is
// removed at once, a committed one when every site has acknowledged it. It is the recipe of ZooKeeper's
// documentation with both improvements. Curator, kazoo: none.
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
  // Votes are ephemeral nodes of the sites, and one transaction that checks all of them decides kCommit: no
  // site was dead at that moment. If the coordinator dies, any site decides.
  kCombined,
  // Sites vote in nodes that the coordinator created, and only it decides. If it dies, sites wait.
  kCoordinator,
  // Every site watches all votes and decides for itself; the coordinator only begins. It costs n^2
  // notifications, and a dead site makes all others wait.
  kPeer,
};

struct TwoPhaseCommitOptions {
  CommitForm form = CommitForm::kCombined;  // the same for all
  // How long to wait for votes; then a waiting process aborts the transaction. Not for kPeer.
  std::chrono::milliseconds votes_within{10'000};
};

class TwoPhaseCommit {
 public:
  // Runs on the client's executor. True: this site can carry out either decision from now on.
  using Prepare = std::move_only_function<Task<Result<bool>>(std::string payload)>;

  TwoPhaseCommit(Client client, std::string root, TwoPhaseCommitOptions options = {});

  // Begins a transaction and drives it to a decision, also in the next session. kNodeExists: the id was used
  // before. kNoNode: this coordinator lost its session and found nothing when it returned: the transaction
  // was aborted, or committed and carried out by all sites.
  Task<Result<Decision>> coordinate(std::string id, std::string payload, std::vector<std::string> sites,
                                    Wait wait = {}) const;
  // Waits for the transaction, prepares, votes, and waits for the decision, across lost connections and
  // sessions. An error of `prepare` is a vote against it.
  Task<Result<Decision>> participate(std::string id, std::string site, Prepare prepare, Wait wait = {}) const;
  // Returns the decision. In the combined form an undecided transaction is decided now: kCommit if all votes
  // are there, otherwise kAbort. In the other forms it waits.
  Task<Result<Decision>> resolve(std::string id, Wait wait = {}) const;
  // The site has carried out the decision and will not ask again.
  Task<Result<void>> acknowledge(std::string id, std::string site, Wait wait = {}) const;

 private:
  Client client_;
  std::string root_;
  TwoPhaseCommitOptions options_;
};

}  // namespace drover::recipes
