// SPDX-License-Identifier: Apache-2.0
//
// How many may be connected, and who has to go for a newcomer.
//
// Whoever opens connections and is silent, or sends a byte now and then, must not be able to keep a probe
// from its answer. So when all seats are taken, the one that has kept us waiting for the longest time gives
// its seat to the newcomer; those with something under way keep theirs.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace drover::server {

class HttpSeats;

// One connection's. Given back when it is destroyed.
class HttpSeat {
 public:
  explicit HttpSeat(HttpSeats& seats) : seats_(seats) {}
  ~HttpSeat();
  HttpSeat(const HttpSeat&) = delete;
  HttpSeat& operator=(const HttpSeat&) = delete;

  // It is the client's turn. `leave` may be called from any thread until something is under way again, or
  // the seat is gone; then the connection is to end.
  void waits(std::function<void()> leave);
  // It is our turn, or a stream runs.
  void works();

 private:
  friend class HttpSeats;
  HttpSeats& seats_;
  bool taken_ = true;  // false: a newcomer has it
  std::function<void()> leave_;
  std::list<HttpSeat*>::iterator place_;  // among those that wait, if there is a `leave_`
};

// Outlives all seats.
class HttpSeats {
 public:
  explicit HttpSeats(std::size_t most) : most_(most) {}

  // Null: all are taken by those with something under way.
  std::unique_ptr<HttpSeat> take();

 private:
  friend class HttpSeat;
  void forget_wait(HttpSeat& seat);

  const std::size_t most_;
  std::mutex mutex_;
  std::size_t taken_ = 0;
  std::list<HttpSeat*> waiting_;  // the longest time first
};

}  // namespace drover::server
