// SPDX-License-Identifier: Apache-2.0
//
// The state behind a QueueItem: a claim of one item, in one session.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "recipes/queues/queue_config.h"

namespace drover::recipes {

// Gives the item back when it is destroyed, whatever has happened by then.
class QueueClaim {
 public:
  QueueClaim(SharedConfig queue, Client bound, ItemName item);
  ~QueueClaim() { let_go(); }
  QueueClaim(const QueueClaim&) = delete;
  QueueClaim& operator=(const QueueClaim&) = delete;

  static Task<Result<bool>> acquire(std::shared_ptr<QueueClaim> c, Wait wait);
  static Task<Result<bool>> load(std::shared_ptr<QueueClaim> c, Wait wait);
  static Task<Result<void>> finish(std::shared_ptr<QueueClaim> c, Wait wait);
  static Task<Result<void>> give_back(std::shared_ptr<QueueClaim> c, Wait wait);

  // Gives it back in the background; its data stays readable.
  void let_go();

  const ItemName& item() const { return item_; }
  const std::vector<std::string>& values() const { return values_; }
  int deliveries() const { return deliveries_; }
  std::stop_token lost() const { return lost_.get_token(); }
  Zxid czxid() const { return czxid_; }
  std::string path() const { return queue_->claim_path(item_.name); }
  // The node that exists exactly as long as this claim does.
  std::string proof_path() const { return queue_->claim_path(item_.name + "-" + word_); }

 private:
  enum class Stage : std::uint8_t {
    kNone,   // There is none of ours.
    kTried,  // There may be one.
    kHeld,
    kDone,  // The item is gone, and the claim with it.
  };
  static Task<Result<bool>> look(std::shared_ptr<QueueClaim> c, Wait wait);
  static Task<Result<std::vector<Op>>> ops_of(std::shared_ptr<QueueClaim> c, Wait wait);
  static Task<Result<void>> bury(std::shared_ptr<QueueClaim> c, NodeData node, Wait wait);

  SharedConfig queue_;
  Client client_;  // bound to the session
  ItemName item_;
  std::string word_;
  Stage stage_ = Stage::kNone;
  Zxid czxid_{};
  int deliveries_ = 1;
  std::vector<std::string> values_;
  std::stop_source lost_;
  Client::Subscription states_;
  Client::Subscription held_;  // only replies that prove a quorum count
};

}  // namespace drover::recipes
