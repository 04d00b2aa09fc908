// SPDX-License-Identifier: Apache-2.0
//
// Limits the number of connections, and selects the one to close for a new one.
//
// A client that opens connections and is silent, or sends a byte now and then, must not block a probe. So
// when all seats are taken, the connection that has kept us waiting the longest is closed and its seat goes
// to the new one. Connections with a request or stream in progress keep their seats.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace drover::server {

class HttpSeats;

// The seat of one connection. Released by its destructor.
class HttpSeat {
 public:
  explicit HttpSeat(HttpSeats& seats) : seats_(seats) {}
  ~HttpSeat();
  HttpSeat(const HttpSeat&) = delete;
  HttpSeat& operator=(const HttpSeat&) = delete;

  // We wait for the client now. `leave` must end the connection. It can be called from any thread until
  // works() is called or the seat is destroyed.
  void waits(std::function<void()> leave);
  // We process a request, or a stream runs.
  void works();

 private:
  friend class HttpSeats;
  HttpSeats& seats_;
  bool taken_ = true;  // false: a new connection took it
  std::function<void()> leave_;
  std::list<HttpSeat*>::iterator place_;  // in `waiting_`, if `leave_` is set
};

// Outlives all seats.
class HttpSeats {
 public:
  explicit HttpSeats(std::size_t most) : most_(most) {}

  // Null: every seat belongs to a connection with work in progress.
  std::unique_ptr<HttpSeat> take();

 private:
  friend class HttpSeat;
  void forget_wait(HttpSeat& seat);

  const std::size_t most_;
  std::mutex mutex_;
  std::size_t taken_ = 0;
  std::list<HttpSeat*> waiting_;  // longest wait first
};

}  // namespace drover::server
