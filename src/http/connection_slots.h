// SPDX-License-Identifier: Apache-2.0
//
// Limits the number of connections, and selects the one to close for a new one.
//
// A client that opens connections and is silent, or sends a byte now and then, must not block a probe. So
// when all slots are taken, the connection that has kept us waiting the longest is closed and its slot goes
// to the new one. Connections with a request or stream in progress keep their slots.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace drover::server {

class HttpConnectionSlots;

// The slot of one connection. Released by its destructor.
class HttpConnectionSlot {
 public:
  explicit HttpConnectionSlot(HttpConnectionSlots& slots) : slots_(slots) {}
  ~HttpConnectionSlot();
  HttpConnectionSlot(const HttpConnectionSlot&) = delete;
  HttpConnectionSlot& operator=(const HttpConnectionSlot&) = delete;

  // We wait for the client now. `leave` must end the connection. It can be called from any thread until
  // works() is called or the slot is destroyed.
  void waits(std::function<void()> leave);
  // We process a request, or a stream runs.
  void works();

 private:
  friend class HttpConnectionSlots;
  HttpConnectionSlots& slots_;
  bool taken_ = true;  // false: a new connection took it
  std::function<void()> leave_;
  std::list<HttpConnectionSlot*>::iterator place_;  // in `waiting_`, if `leave_` is set
};

// Outlives all slots.
class HttpConnectionSlots {
 public:
  explicit HttpConnectionSlots(std::size_t most) : most_(most) {}

  // Null: every slot belongs to a connection with work in progress.
  std::unique_ptr<HttpConnectionSlot> take();

 private:
  friend class HttpConnectionSlot;
  void forget_wait(HttpConnectionSlot& slot);

  const std::size_t most_;
  std::mutex mutex_;
  std::size_t taken_ = 0;
  std::list<HttpConnectionSlot*> waiting_;  // longest wait first
};

}  // namespace drover::server
