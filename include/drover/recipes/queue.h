// SPDX-License-Identifier: Apache-2.0
//
// A queue that outlives those who put and those who take. Items come in the order in which they were put.
//
//   recipes::Queue queue(client, "/jobs");
//   unwrap(sync_wait(queue.put("job 1")));
//   recipes::QueueItem item = unwrap(sync_wait(queue.take(Wait::within(30s))));
//   work_on(item.data(), item.lost());
//   unwrap(sync_wait(item.done()));                  // gone for good
//
// At least once (kExplicit, the default): what was taken is claimed by an ephemeral node and stays in the
// queue until done(). If the taker's session ends or it gives the item back, another gets it; done() then is
// kLockLost. Two may work on one item only after a loss, which lost() tells and check_op() guards against.
// At most once (kAutomatic): it is gone when take() returns; one that is lost on the way is told by
// maybe_applied() of take()'s error. In neither does a lost answer lose an item or take it twice.
//
// Of any number of idle takers one watches the queue, and the others wait for their turn: one put, one
// notification. Curator's DistributedQueue (with lockPath) and SimpleDistributedQueue; kazoo's Queue and
// LockingQueue are this with layouts of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "drover/client.h"

namespace drover::recipes {

enum class QueueLayout : std::uint8_t {
  kCurator,  // queue-<seq>, values in Curator's frame: its DistributedQueue
  kSimple,   // qn-<seq>, plain bytes: its SimpleDistributedQueue, and the recipes that come with ZooKeeper
  kNative,   // _c_<uuid>-q-<seq>, plain bytes: a put whose answer is lost finds its item
};

enum class QueueAck : std::uint8_t { kExplicit, kAutomatic };

struct QueueOptions {
  QueueLayout layout = QueueLayout::kCurator;
  QueueAck ack = QueueAck::kExplicit;
  // A put that would make it more waits. Exact among those who put with a bound. 0: none.
  int items_max = 0;
  // Counts deliveries; after so many an item is moved to <path>.dead. 0: they are not counted.
  int deliveries_max = 0;
  // Other layouts than kNative cannot tell their item after a lost answer; with this one transaction more
  // does. Otherwise the error's maybe_applied() says that it may be in the queue.
  bool exact_put = false;
  // Where claims are; Curator's lockPath. Empty: <path>.claims.
  std::string claims = {};
};

struct QueueConfig;
class QueueClaim;

// One that was taken. Move-only; whoever lets it go without done() gives it back. What it says stays
// readable.
class QueueItem {
 public:
  QueueItem() = default;
  explicit QueueItem(std::shared_ptr<QueueClaim> claim) : claim_(std::move(claim)) {}
  QueueItem(QueueItem&&) noexcept = default;
  QueueItem& operator=(QueueItem&& other) noexcept;
  ~QueueItem() { let_go(); }

  const std::string& data() const { return values().front(); }
  // Curator may put several values as one item; they are taken together.
  const std::vector<std::string>& values() const;
  const std::string& name() const;  // "queue-0000000007"
  int deliveries() const;           // with this one; 1 where they are not counted

  // The claim is gone with its session: another may be working on it.
  std::stop_token lost() const;
  // Fails a transaction when the claim is gone.
  Op check_op() const;
  // Grows with each delivery of an item: the claim's czxid.
  Zxid fence() const;

  // Removes it from the queue. kLockLost: the claim was gone before, and the item will be or was worked on
  // again; maybe_applied() then says that this cannot be known. After any error it is given back.
  Task<Result<void>> done(Wait wait = {});
  // Lets another have it, before all that were put later.
  Task<Result<void>> give_back(Wait wait = {});

  // Of the library itself.
  const std::shared_ptr<QueueClaim>& claim() const { return claim_; }

 private:
  void let_go();
  std::shared_ptr<QueueClaim> claim_;
};

class Queue {
 public:
  Queue(Client client, std::string path, QueueOptions options = {});

  Task<Result<void>> put(std::string data, Wait wait = {}) const;
  // As one item, kCurator only.
  Task<Result<void>> put_all(std::vector<std::string> values, Wait wait = {}) const;
  // The oldest that nobody has claimed; waits for one. kDeadline at once for Wait::poll() if there is none
  // that this client's server knows of.
  Task<Result<QueueItem>> take(Wait wait = {}) const;
  // How many there are, claimed ones too.
  Task<Result<int>> size(Wait wait = {}) const;

 private:
  std::shared_ptr<const QueueConfig> config_;
};

}  // namespace drover::recipes
