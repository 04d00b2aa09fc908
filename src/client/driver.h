// SPDX-License-Identifier: Apache-2.0
//
// The interface between the pure half of a client and the world: a Driver gives bytes and time to a
// DrivenMachine and carries out its effects. Commands come from the callers, Jobs go to them.
//
// It uses no public types, so that drivers need not know them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "client/session.h"

namespace drover::client {

class Engine;

// An intrusive FIFO list.
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
  // Appends all of `other`.
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

// Work for the executor. Deletes itself.
class Job {
 public:
  virtual void run() = 0;
  virtual void discard() = 0;
  Job* next = nullptr;

 protected:
  ~Job() = default;
};

// Work for the engine. Deletes itself.
class Command {
 public:
  virtual void run(Engine& engine, Instant now) = 0;
  virtual void discard() = 0;
  Command* next = nullptr;

 protected:
  ~Command() = default;
};

class DrivenMachine {
 public:
  virtual ~DrivenMachine() = default;
  // Inputs, as in Session.
  virtual void start(Instant now) = 0;
  // The numeric address that the next on_connected() is about, if the driver knows it.
  virtual void on_peer(const ServerAddress&) {}
  virtual void on_connected(Instant now) = 0;
  virtual void on_bytes(std::string_view bytes, Instant now) = 0;
  virtual void on_disconnected(Instant now) = 0;
  virtual void on_sasl(SaslStep, Instant) {}
  virtual void on_time(Instant now) = 0;
  virtual void on_command(Command& command, Instant now) = 0;
  virtual std::optional<Instant> next_time() const = 0;
  // Closes the session; gives up waiting for the server's confirmation after `patience_ms`.
  virtual void close(Instant now, std::int64_t patience_ms) = 0;
  // No further connection is needed.
  virtual bool is_over() const = 0;

  // The effects of the inputs so far. Carry them out and clear them after one or several inputs.
  SessionEffects wanted;
  Chain<Job> jobs;
};

class Driver {
 public:
  virtual ~Driver() = default;
  // Safe to call from any thread; keeps the order of each thread. On the executor they may wait for flush().
  virtual void post(Command* command) = 0;
  virtual void flush() = 0;
  // No more posts will come. The driver ends when its machine is over.
  virtual void retire() = 0;
};

}  // namespace drover::client
