// SPDX-License-Identifier: Apache-2.0
#include "http/connection_slots.h"

#include <utility>

namespace drover::server {

HttpConnectionSlot::~HttpConnectionSlot() {
  std::lock_guard lock(slots_.mutex_);
  slots_.forget_wait(*this);
  if (taken_) --slots_.taken_;
}

void HttpConnectionSlot::waits(std::function<void()> leave) {
  std::lock_guard lock(slots_.mutex_);
  slots_.forget_wait(*this);
  if (!taken_) return;
  leave_ = std::move(leave);
  place_ = slots_.waiting_.insert(slots_.waiting_.end(), this);
}

void HttpConnectionSlot::works() {
  std::lock_guard lock(slots_.mutex_);
  slots_.forget_wait(*this);
}

void HttpConnectionSlots::forget_wait(HttpConnectionSlot& slot) {
  if (!slot.leave_) return;
  waiting_.erase(slot.place_);
  slot.leave_ = nullptr;
}

std::unique_ptr<HttpConnectionSlot> HttpConnectionSlots::take() {
  std::function<void()> leave;
  auto slot = std::make_unique<HttpConnectionSlot>(*this);
  {
    std::lock_guard lock(mutex_);
    slot->taken_ = taken_ < most_ || !waiting_.empty();
    if (slot->taken_ && taken_ >= most_) {
      HttpConnectionSlot& oldest = *waiting_.front();
      leave = oldest.leave_;
      forget_wait(oldest);
      oldest.taken_ = false;
    } else if (slot->taken_) {
      ++taken_;
    }
  }
  if (leave) leave();
  const bool found = slot->taken_;
  return found ? std::move(slot) : nullptr;
}

}  // namespace drover::server
