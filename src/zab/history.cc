// SPDX-License-Identifier: Apache-2.0
#include "zab/history.h"

#include <algorithm>

#include "base/ensure.h"
#include "wire/txns.h"

namespace drover::zab {

Zxid History::zxid_at(const TxnBatch& batch, std::size_t i) { return wire::zxid_of_entry(batch.entry(i)); }

void History::begin_at(Zxid last) {
  batches_.clear();
  txns_ = bytes_ = 0;
  begun_at_ = window_begin_ = last_ = durable_ = committed_ = applied_ = last;
}

void History::append(TxnBatchPtr batch) {
  ENSURE(batch->size() > 0 && follows(batch->first, last_), "a history has no holes");
  last_ = batch->last;
  txns_ += batch->size();
  bytes_ += batch->bytes.size();
  batches_.push_back(std::move(batch));
  forget_old();
}

void History::replay(Zxid zxid, std::string_view entry) {
  auto batch = std::make_shared<TxnBatch>();
  batch->add(zxid, entry);
  append(std::move(batch));
  durable_ = committed_ = applied_ = zxid;
  forget_old();
}

void History::set_durable(Zxid zxid) {
  // An fsync may have been under way for transactions that were truncated since.
  durable_ = std::max(durable_, std::min(zxid, last_));
}

void History::set_committed(Zxid zxid) {
  ENSURE(zxid <= last_, "only logged transactions are committed");
  ENSURE(zxid >= committed_, "committed transactions stay committed");
  committed_ = zxid;
  forget_old();
}

void History::set_applied(Zxid zxid) {
  applied_ = zxid;
  forget_old();
}

void History::keep_after(std::optional<Zxid> zxid) {
  keep_after_ = zxid;
  forget_old();
}

void History::truncate(Zxid last) {
  ENSURE(last >= window_begin_, "truncation stays within the window");
  while (!batches_.empty() && batches_.back()->last > last) {
    const TxnBatchPtr cut = batches_.back();
    batches_.pop_back();
    txns_ -= cut->size();
    bytes_ -= cut->bytes.size();
    auto kept = std::make_shared<TxnBatch>();
    for (std::size_t i = 0; i < cut->size() && zxid_at(*cut, i) <= last; ++i) {
      kept->add(zxid_at(*cut, i), cut->entry(i));
    }
    if (kept->size() == 0) continue;
    txns_ += kept->size();
    bytes_ += kept->bytes.size();
    batches_.push_back(std::move(kept));
  }
  last_ = batches_.empty() ? window_begin_ : batches_.back()->last;
  durable_ = std::min(durable_, last_);
  committed_ = std::min(committed_, last_);
  applied_ = std::min(applied_, last_);
}

Zxid History::at_or_before(Zxid zxid) const {
  const auto after = std::upper_bound(batches_.begin(), batches_.end(), zxid,
                                      [](Zxid z, const TxnBatchPtr& batch) { return z < batch->first; });
  if (after == batches_.begin()) return window_begin_;
  const TxnBatch& batch = **std::prev(after);
  if (zxid >= batch.last) return batch.last;
  // A batch that was received in one piece may span epochs; so search, instead of computing the index.
  std::size_t i = batch.size();
  while (zxid_at(batch, i - 1) > zxid) --i;
  return zxid_at(batch, i - 1);
}

bool History::first_of_epoch(std::uint32_t epoch, Zxid& before) const {
  before = at_or_before(epoch_start(epoch));
  bool found = false;
  for_each(before, last_, [&](Zxid zxid, std::string_view) { found = found || epoch_of(zxid) == epoch; });
  return found;
}

// Forgets only what is applied: the rest may still have to be sent, applied or cut off.
void History::forget_old() {
  while (batches_.size() > 1 && (txns_ > limits_.txns || bytes_ > limits_.bytes)) {
    const TxnBatch& oldest = *batches_.front();
    if (oldest.last > committed_ || oldest.last > durable_ || oldest.last > applied_) return;
    if (keep_after_ && oldest.last > *keep_after_) return;
    const bool still_enough = txns_ - oldest.size() >= limits_.txns || bytes_ > limits_.bytes;
    if (!still_enough) return;
    txns_ -= oldest.size();
    bytes_ -= oldest.bytes.size();
    window_begin_ = oldest.last;
    batches_.pop_front();
  }
}

}  // namespace drover::zab
