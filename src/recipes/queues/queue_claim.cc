// SPDX-License-Identifier: Apache-2.0
//
// Claims. A taker owns an item while its claim exists, and removes both in one transaction.
//
// A claim is two ephemeral nodes, created and removed together. The first has the item's name, so that
// Curator's consumers respect it and nobody else can claim the item. That name says nothing about its owner:
// the next taker uses it too. The second node has a name that no other claim uses, so its existence proves
// that this claim exists.
#include "recipes/queues/queue_claim.h"

#include <utility>

#include "base/child_path.h"

namespace drover::recipes {
namespace {

// Another consumer was faster: the item is gone, was delivered, or is claimed.
bool is_overtaken(const Error& error) {
  return error == Errc::kNoNode || error == Errc::kBadVersion || error == Errc::kNodeExists;
}

bool is_over(const StateEvent& event, SessionId session) {
  return event.state == ConnectionState::kExpired || event.state == ConnectionState::kAuthFailed ||
         event.state == ConnectionState::kClosed || event.session != session;
}

}  // namespace

QueueClaim::QueueClaim(SharedConfig queue, Client bound, ItemName item)
    : queue_(std::move(queue)),
      client_(std::move(bound)),
      item_(std::move(item)),
      word_(client_.new_uuid()) {}

void QueueClaim::let_go() {
  const Stage stage = std::exchange(stage_, Stage::kNone);
  held_.reset();
  if (stage == Stage::kHeld || stage == Stage::kTried)
    remove_owned_later(client_, path(), Op::remove(proof_path()));
}

// True if the existing claim is ours; records it if so.
Task<Result<bool>> QueueClaim::look(std::shared_ptr<QueueClaim> c, Wait wait) {
  auto reading = until_answered(c->client_, [&] { return c->client_.get(c->path(), wait); });
  const Result<NodeData> node = co_await std::move(reading);
  if (!node && node.error() != Errc::kNoNode) co_return std::unexpected(node.error());
  if (!node || node->data != c->word_) co_return false;
  c->czxid_ = node->stat.czxid;
  co_return true;
}

// The item must exist when it is claimed: a claim of a missing item would stay with our session. If
// deliveries are counted, writing the item unchanged checks that, and counts.
Task<Result<std::vector<Op>>> QueueClaim::ops_of(std::shared_ptr<QueueClaim> c, Wait wait) {
  const std::string item = c->queue_->item_path(c->item_.name);
  std::vector<Op> ops;
  if (c->queue_->options.deliveries_max > 0) {
    CO_TRY_ASSIGN(const NodeData node,
                  until_answered(c->client_, [&] { return c->client_.get(item, wait); }));
    ops.push_back(Op::set(item, node.data, node.stat.version));
  } else {
    ops.push_back(Op::check(item));
  }
  ops.push_back(Op::create(c->path(), c->word_, {.mode = CreateMode::kEphemeral}));
  ops.push_back(Op::create(c->proof_path(), "", {.mode = CreateMode::kEphemeral}));
  co_return ops;
}

// False: another consumer has it, or it is gone.
Task<Result<bool>> QueueClaim::acquire(std::shared_ptr<QueueClaim> c, Wait wait) {
  for (bool unknown = false;;) {
    auto preparing = ops_of(c, wait);
    Result<std::vector<Op>> ops = co_await std::move(preparing);
    Error error;
    if (ops) {
      c->stage_ = Stage::kTried;
      auto claiming = c->client_.multi(*std::move(ops), wait);
      const Result<std::vector<OpResult>> claimed = co_await std::move(claiming);
      if (claimed) break;
      error = claimed.error();
      unknown = unknown || error.maybe_applied();
    } else {
      error = ops.error();
    }
    if (unknown && (is_recoverable(error) || is_overtaken(error))) {
      CO_TRY_ASSIGN(const bool ours, look(c, wait));
      if (ours) break;
    }
    if (is_recoverable(error)) {
      CO_TRY(pause_before_retry(c->client_, error, wait));
      continue;
    }
    if (error == Errc::kNoNode && error.op_index == 1) {
      CO_TRY(make_directory(c->client_, c->queue_->claims_path(), wait));
      continue;
    }
    if (!error.maybe_applied()) c->stage_ = Stage::kNone;
    if (is_overtaken(error)) co_return false;
    co_return std::unexpected(error);
  }
  CO_TRY_ASSIGN(const bool ours, look(c, wait));
  if (!ours) co_return false;
  c->stage_ = Stage::kHeld;
  co_return true;
}

// Moves an item that is malformed or was delivered too often to the dead queue.
Task<Result<void>> QueueClaim::bury(std::shared_ptr<QueueClaim> c, NodeData node, Wait wait) {
  const std::string grave = c->queue_->beside(".dead");
  for (;;) {
    std::vector<Op> ops;
    ops.push_back(Op::remove(c->proof_path()));
    ops.push_back(Op::remove(c->path()));
    ops.push_back(Op::remove(c->queue_->item_path(c->item_.name)));
    ops.push_back(Op::create(child_path(grave, c->item_.name + "-"), node.data,
                             {.mode = CreateMode::kPersistentSequential}));
    auto burying = c->client_.multi(std::move(ops), wait);
    const Result<std::vector<OpResult>> buried = co_await std::move(burying);
    if (buried) break;
    if (buried.error() == Errc::kNoNode && buried.error().op_index == 3) {
      CO_TRY(
          until_answered(c->client_, [&] { return c->client_.create(grave, "", {.parents = true}, wait); }));
      continue;
    }
    if (buried.error() == Errc::kNoNode)
      break;  // A reply was lost, or another client took it without a claim.
    if (!is_recoverable(buried.error())) co_return std::unexpected(buried.error());
    CO_TRY(pause_before_retry(c->client_, buried.error(), wait));
  }
  c->stage_ = Stage::kNone;
  co_return Result<void>{};
}

// False: the item must not be delivered.
Task<Result<bool>> QueueClaim::load(std::shared_ptr<QueueClaim> c, Wait wait) {
  const std::string item = c->queue_->item_path(c->item_.name);
  auto reading = until_answered(c->client_, [&] { return c->client_.get(item, wait); });
  const Result<NodeData> node = co_await std::move(reading);
  if (!node && node.error() == Errc::kNoNode) co_return false;
  if (!node) co_return std::unexpected(node.error());

  const int deliveries_max = c->queue_->options.deliveries_max;
  if (deliveries_max > 0) c->deliveries_ = std::to_underlying(node->stat.version);
  auto values = c->queue_->framed ? unframe_values(node->data) : std::optional(std::vector{node->data});
  if (!values || (deliveries_max > 0 && c->deliveries_ > deliveries_max)) {
    CO_TRY(bury(c, *node, wait));
    co_return false;
  }
  c->values_ = *std::move(values);
  c->held_ = c->client_.hold_session();
  c->states_ =
      c->client_.on_state([lost = c->lost_, session = c->client_.bound_session()](const StateEvent& e) {
        if (is_over(e, session)) std::stop_source(lost).request_stop();
      });
  co_return true;
}

Task<Result<void>> QueueClaim::finish(std::shared_ptr<QueueClaim> c, Wait wait) {
  if (!c) co_return fail(Errc::kNotOwner, {}, "this object holds no item");
  const Wait steps = for_steps(c->client_, wait);
  if (c->stage_ == Stage::kDone) co_return Result<void>{};
  if (c->stage_ == Stage::kNone)
    co_return fail(Errc::kNotOwner, c->path(), "the item was given back already");
  for (bool unknown = false;;) {
    std::vector<Op> ops;
    ops.push_back(Op::remove(c->proof_path()));
    ops.push_back(Op::remove(c->path()));
    ops.push_back(Op::remove(c->queue_->item_path(c->item_.name)));
    auto finishing = c->client_.multi(std::move(ops), steps);
    const Result<std::vector<OpResult>> finished = co_await std::move(finishing);
    const bool claim_is_gone =
        !finished && finished.error() == Errc::kNoNode && finished.error().op_index == 0;
    const bool was_done = unknown && claim_is_gone;  // by the try whose answer was lost
    if (finished || was_done) {
      c->stage_ = Stage::kDone;
      c->held_.reset();
      co_return Result<void>{};
    }
    Error error = finished.error();
    unknown = unknown || error.maybe_applied();
    if (is_recoverable(error)) {
      CO_TRY(pause_before_retry(c->client_, error, steps));
      continue;
    }
    if (error == Errc::kNoNode || error == Errc::kSessionExpired) error.code = Errc::kLockLost;
    if (unknown) error.applied = Applied::kMaybe;
    c->let_go();
    co_return std::unexpected(error);
  }
}

Task<Result<void>> QueueClaim::give_back(std::shared_ptr<QueueClaim> c, Wait wait) {
  if (!c) co_return fail(Errc::kNotOwner, {}, "this object holds no item");
  const Wait steps = for_steps(c->client_, wait);
  if (c->stage_ == Stage::kDone)
    co_return fail(Errc::kNotOwner, c->path(), "the item is no longer in the queue");
  c->stage_ = Stage::kNone;  // However the call ends, the claim is removed.
  c->held_.reset();
  auto removing = remove_owned(c->client_, c->path(), Op::remove(c->proof_path()), steps);
  Result<void> removed = co_await std::move(removing);
  if (!removed && removed.error() == Errc::kSessionExpired) co_return Result<void>{};
  co_return removed;
}

Task<Result<std::optional<QueueItem>>> claim_item(SharedConfig queue, Client client, ItemName item,
                                                  Wait wait) {
  const auto claim = std::make_shared<QueueClaim>(queue, client, std::move(item));
  CO_TRY_ASSIGN(const bool acquired, QueueClaim::acquire(claim, wait));
  if (!acquired) co_return std::optional<QueueItem>();
  CO_TRY_ASSIGN(const bool loaded, QueueClaim::load(claim, wait));
  if (!loaded) co_return std::optional<QueueItem>();
  if (queue->options.ack == QueueAck::kAutomatic) {
    auto finishing = QueueClaim::finish(claim, wait);
    const Result<void> finished = co_await std::move(finishing);
    const bool taken_by_another = !finished && finished.error() == Errc::kLockLost;
    if (taken_by_another && !finished.error().maybe_applied()) co_return std::optional<QueueItem>();
    if (!finished) co_return std::unexpected(finished.error());
  }
  co_return std::optional<QueueItem>(QueueItem(claim));
}

// --- what users see of it ---

const std::vector<std::string>& QueueItem::values() const { return claim_->values(); }
const std::string& QueueItem::name() const { return claim_->item().name; }
int QueueItem::deliveries() const { return claim_->deliveries(); }
std::stop_token QueueItem::lost() const { return claim_->lost(); }
Op QueueItem::check_op() const { return Op::check(claim_->proof_path()); }
Zxid QueueItem::fence() const { return claim_->czxid(); }

void QueueItem::let_go() { claim_.reset(); }

QueueItem& QueueItem::operator=(QueueItem&& other) noexcept {
  if (this != &other) {
    let_go();
    claim_ = std::move(other.claim_);
  }
  return *this;
}

Task<Result<void>> QueueItem::done(Wait wait) { return QueueClaim::finish(claim_, std::move(wait)); }
Task<Result<void>> QueueItem::give_back(Wait wait) { return QueueClaim::give_back(claim_, std::move(wait)); }

}  // namespace drover::recipes
