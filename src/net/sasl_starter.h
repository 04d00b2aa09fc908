// SPDX-License-Identifier: Apache-2.0
//
// Starts SASL exchanges of the connecting side, for an event loop that must not block.
//
// The first step may ask a Kerberos KDC for a ticket, and that may take until the KDC's timeout. So it runs
// in a detached thread; later steps only compute and run on the loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "base/result.h"
#include "base/sasl.h"
#include "net/event_loop.h"
#include "net/mailbox.h"

namespace drover::net {

// Used by the loop's thread. It must outlive its callers, but not the threads.
class SaslStarter final : private EventLoop::Handler {
 public:
  // Runs in another thread, and must own what it uses.
  using Start = std::function<IoResult<std::unique_ptr<SaslConversation>>()>;
  struct Started {
    std::unique_ptr<SaslConversation> conversation;  // null: there was none
    SaslStep step;                                   // the first one
  };
  using Done = std::function<void(Started)>;
  enum class Ticket : std::uint64_t {};

  // Exchanges in their first step. More fail at once: the KDC is gone.
  static constexpr int kThreadsMax = 16;

  static IoResult<std::unique_ptr<SaslStarter>> create(EventLoop& loop);
  ~SaslStarter() override;
  SaslStarter(const SaslStarter&) = delete;
  SaslStarter& operator=(const SaslStarter&) = delete;

  // Calls `done` later, from the loop, unless cancelled before.
  Ticket begin(Start start, Done done);
  void cancel(Ticket ticket);

 private:
  struct Result {
    Ticket ticket;
    Started started;
  };
  using Results = Mailbox<Result>;

  SaslStarter(EventLoop& loop, std::shared_ptr<Results> results);
  void on_ready(std::uint32_t events) override;
  void fail(Ticket ticket, const char* reason);

  EventLoop& loop_;
  std::shared_ptr<Results> results_;
  std::shared_ptr<std::atomic<int>> threads_;
  std::uint64_t last_ticket_ = 0;
  std::map<Ticket, Done> waiting_;
};

}  // namespace drover::net
