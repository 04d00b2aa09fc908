// SPDX-License-Identifier: Apache-2.0
//
// How a client's pure half and the world meet: a Driver carries bytes and time to a Machine and carries out
// what it wants; Commands come in from the callers' side, Jobs go out to it.
//
// Nothing here is of the public vocabulary, so that drivers need not know it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "client/session.h"

namespace drover::client {

class Engine;

// First in, first out; the elements know their next.
template <class Node>
class Chain {
 public:
  Chain() = default;
  Chain(Chain&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {}
  Chain& operator=(Chain&&) = delete;
  ~Chain() {
    while (Node* node = pop()) node->discard();
  }

  bool empty() const { return first_ == nullptr; }
  void push(Node* node) {
    node->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = node;
    last_ = node;
  }
  // All of `other`, behind what is here.
  void append(Chain& other) {
    if (other.empty()) return;
    (first_ == nullptr ? first_ : last_->next) = other.first_;
    last_ = other.last_;
    other.first_ = other.last_ = nullptr;
  }
  Node* pop() {
    Node* const node = first_;
    if (node != nullptr) first_ = node->next;
    return node;
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

// Work for the executor. Ends its own life.
class Job {
 public:
  virtual void run() = 0;
  virtual void discard() = 0;
  Job* next = nullptr;

 protected:
  ~Job() = default;
};

// Work for the engine. Ends its own life.
class Command {
 public:
  virtual void run(Engine& engine, Instant now) = 0;
  virtual void discard() = 0;
  Command* next = nullptr;

 protected:
  ~Command() = default;
};

class Machine {
 public:
  virtual ~Machine() = default;
  // Inputs, as Session has them.
  virtual void start(Instant now) = 0;
  virtual void on_connected(Instant now) = 0;
  virtual void on_bytes(std::string_view bytes, Instant now) = 0;
  virtual void on_disconnected(Instant now) = 0;
  virtual void on_time(Instant now) = 0;
  virtual void on_command(Command& command, Instant now) = 0;
  virtual std::optional<Instant> next_time() const = 0;
  // Ends the session; without a server's confirmation after `patience_ms`.
  virtual void close(Instant now, std::int64_t patience_ms) = 0;
  // No connection is wanted any more.
  virtual bool is_over() const = 0;

  // What the inputs have led to: to be carried out and cleared after each one, or after several.
  Effects wanted;
  Chain<Job> jobs;
};

class Driver {
 public:
  virtual ~Driver() = default;
  // From any thread, in the order of the calls of each. From the executor they may wait for flush().
  virtual void post(Command* command) = 0;
  virtual void flush() = 0;
  // Nobody has anything to post any more. The driver ends when its machine is over.
  virtual void retire() = 0;
};

}  // namespace drover::client
