// SPDX-License-Identifier: Apache-2.0
//
// A queue that outlives its producers and consumers. Items are taken in the order in which they were put.
//
//   recipes::Queue queue(client, "/jobs");
//   unwrap(sync_wait(queue.put("job 1")));
//   recipes::QueueItem item = unwrap(sync_wait(queue.take(Wait::within(30s))));
//   work_on(item.data(), item.lost());
//   unwrap(sync_wait(item.done()));                  // gone for good
//
// At least once (kExplicit, the default): a taken item is claimed by an ephemeral node and stays in the queue
// until done(). If the consumer's session ends or it gives the item back, another one gets it, and done() is
// kLockLost. Two work on one item only after a loss, which lost() reports and check_op() guards against. At
// most once (kAutomatic): the item is gone when take() returns; a loss on the way is maybe_applied() of its
// error. A lost reply neither loses an item nor takes it twice.
//
// One idle consumer watches the queue, the others wait for their turn: a put causes one notification.
// Curator: DistributedQueue (with lockPath), SimpleDistributedQueue. kazoo: Queue and LockingQueue, other
// names.
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
  kNative,   // _c_<uuid>-q-<seq>, plain bytes: a put with a lost reply finds its item
};

enum class QueueAck : std::uint8_t { kExplicit, kAutomatic };

struct QueueOptions {
  QueueLayout layout = QueueLayout::kCurator;
  QueueAck ack = QueueAck::kExplicit;
  // A put that would exceed it waits. Exact among producers that use it. 0: no limit.
  int items_max = 0;
  // After this many deliveries an item is moved to <path>.dead. 0: not counted.
  int deliveries_max = 0;
  // Layouts other than kNative cannot find their item after a lost reply; with this option, one more
  // transaction can. Otherwise the error's maybe_applied() says that it may be in the queue.
  bool exact_put = false;
  // Directory of claims; Curator's lockPath. Empty: <path>.claims.
  std::string claims = {};
};

struct QueueConfig;
class QueueClaim;

// A taken item. Move-only; destroying it without done() gives it back. Its data stays readable afterwards,
// even if it is lost.
class QueueItem {
 public:
  QueueItem() = default;
  explicit QueueItem(std::shared_ptr<QueueClaim> claim) : claim_(std::move(claim)) {}
  QueueItem(QueueItem&&) noexcept = default;
  QueueItem& operator=(QueueItem&& other) noexcept;
  ~QueueItem() { let_go(); }

  const std::string& data() const { return values().front(); }
  // Curator may put several values into one item; they are taken together.
  const std::vector<std::string>& values() const;
  const std::string& name() const;  // "queue-0000000007"
  int deliveries() const;           // with this one; 1 where they are not counted

  // The claim is lost with its session: another consumer may be working on it.
  std::stop_token lost() const;
  // Makes a transaction fail if the claim is lost.
  Op check_op() const;
  // Grows with each delivery of an item: the claim's czxid.
  Zxid fence() const;

  // Removes it from the queue. kLockLost: the claim was lost before, and the item is delivered again;
  // maybe_applied() then says that this is unknown. After any error it is given back.
  Task<Result<void>> done(Wait wait = {});
  // Gives it back; another consumer gets it before later items.
  Task<Result<void>> give_back(Wait wait = {});

  // For the library itself.
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
  // Claims the oldest free item; waits for one. With Wait::poll(), kDeadline at once if this client's server
  // knows of none.
  Task<Result<QueueItem>> take(Wait wait = {}) const;
  // The number of items, including claimed ones.
  Task<Result<int>> size(Wait wait = {}) const;

 private:
  std::shared_ptr<const QueueConfig> config_;
};

}  // namespace drover::recipes
