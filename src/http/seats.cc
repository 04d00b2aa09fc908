// SPDX-License-Identifier: Apache-2.0
#include "http/seats.h"

#include <utility>

namespace drover::server {

HttpSeat::~HttpSeat() {
  std::lock_guard lock(seats_.mutex_);
  seats_.forget_wait(*this);
  if (taken_) --seats_.taken_;
}

void HttpSeat::waits(std::function<void()> leave) {
  std::lock_guard lock(seats_.mutex_);
  seats_.forget_wait(*this);
  if (!taken_) return;
  leave_ = std::move(leave);
  place_ = seats_.waiting_.insert(seats_.waiting_.end(), this);
}

void HttpSeat::works() {
  std::lock_guard lock(seats_.mutex_);
  seats_.forget_wait(*this);
}

void HttpSeats::forget_wait(HttpSeat& seat) {
  if (!seat.leave_) return;
  waiting_.erase(seat.place_);
  seat.leave_ = nullptr;
}

std::unique_ptr<HttpSeat> HttpSeats::take() {
  std::function<void()> leave;
  auto seat = std::make_unique<HttpSeat>(*this);
  {
    std::lock_guard lock(mutex_);
    seat->taken_ = taken_ < most_ || !waiting_.empty();
    if (seat->taken_ && taken_ >= most_) {
      HttpSeat& oldest = *waiting_.front();
      leave = oldest.leave_;
      forget_wait(oldest);
      oldest.taken_ = false;
    } else if (seat->taken_) {
      ++taken_;
    }
  }
  if (leave) leave();
  const bool found = seat->taken_;
  return found ? std::move(seat) : nullptr;
}

}  // namespace drover::server
