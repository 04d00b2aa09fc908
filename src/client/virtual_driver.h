// SPDX-License-Identifier: Apache-2.0
//
// A client in one thread on virtual time: driver and executor are queues that run when the test or the
// simulator says so.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "client/client_calls.h"
#include "client/core.h"
#include "client/driver.h"
#include "client/strand.h"
#include "drover/client.h"
#include "drover/executor.h"

namespace drover::client {

// The network as the client sees it. Answers must not come from within a call.
class VirtualWire {
 public:
  virtual ~VirtualWire() = default;
  virtual void dial(std::size_t server) = 0;
  virtual void hang_up() = 0;
  virtual void send(std::string_view bytes) = 0;
  virtual void step_sasl(const std::string&) {}
  // Indexes mean this list from now on.
  virtual void set_servers(const std::vector<ServerAddress>&) {}
};

// Every input runs everything that follows from it. The owner advances time; Clock::now() must follow it
// (ClockOverride).
class VirtualDriver final : public Driver, public Executor {
 public:
  struct Made {
    std::shared_ptr<VirtualDriver> driver;
    Client client;
  };
  static Made make(VirtualWire& wire, const EngineOptions& options, Instant now, std::string prefix = {},
                   RetryPolicy retry = RetryPolicy::none()) {
    auto driver = std::make_shared<VirtualDriver>(wire);
    auto board = std::make_shared<Board>();
    auto strand = std::make_shared<Strand>(*driver, nullptr);
    driver->machine_ = std::make_unique<Engine>(options, board);
    driver->strand_ = strand;
    driver->board_ = board;
    auto core = std::make_shared<ClientCore>(
        ClientCore::Parts{strand, driver, board, retry, options.session.seed, ~options.session.seed});
    driver->machine_->start(now);
    driver->now_ = now;
    driver->settle();
    return {driver, make_client(std::move(core), std::move(prefix))};
  }

  explicit VirtualDriver(VirtualWire& wire) : wire_(wire) {}

  // --- inputs of the world ---
  void on_peer(const ServerAddress& peer) { machine_->on_peer(peer); }
  void on_connected(Instant now) {
    input(now, [&] { machine_->on_connected(now); });
  }
  void on_bytes(std::string_view bytes, Instant now) {
    input(now, [&] { machine_->on_bytes(bytes, now); });
  }
  void on_disconnected(Instant now) {
    input(now, [&] { machine_->on_disconnected(now); });
  }
  void on_sasl(SaslStep step, Instant now) {
    input(now, [&] { machine_->on_sasl(std::move(step), now); });
  }
  void on_time(Instant now) {
    input(now, [&] { machine_->on_time(now); });
  }
  std::optional<Instant> next_time() const { return machine_->next_time(); }
  bool is_over() const { return machine_->is_over(); }
  bool is_retired() const { return retired_; }
  // Listeners for states.
  std::size_t listeners() const { return board_->listeners.size(); }

  // Call it after using the client from outside.
  void settle() {
    do {
      carry_out();
    } while (run_some());
  }
  // Runs on the executor.
  void run(std::move_only_function<void()> work) {
    strand_->post(std::move(work));
    settle();
  }

  // --- Driver, Executor ---
  void post(Command* command) override { commands_.push(command); }
  void flush() override {}
  void retire() override { retired_ = true; }
  void post(std::move_only_function<void()> work) override { work_.push_back(std::move(work)); }

 private:
  template <class Give>
  void input(Instant now, Give give) {
    now_ = now;
    give();
    settle();
  }
  void carry_out() {
    SessionEffects& wanted = machine_->wanted;
    strand_->post(machine_->jobs);
    if (wanted.hang_up) wire_.hang_up();
    if (wanted.servers) wire_.set_servers(*wanted.servers);
    if (wanted.dial) wire_.dial(*wanted.dial);
    if (!wanted.send.empty()) wire_.send(wanted.send);
    if (wanted.sasl) wire_.step_sasl(*wanted.sasl);
    wanted.clear();
  }
  bool run_some() {
    if (Command* command = commands_.pop()) {
      machine_->on_command(*command, now_);
      return true;
    }
    if (work_.empty()) return false;
    auto work = std::move(work_.front());
    work_.pop_front();
    work();
    return true;
  }

  VirtualWire& wire_;
  std::unique_ptr<DrivenMachine> machine_;
  std::shared_ptr<Strand> strand_;
  std::shared_ptr<Board> board_;
  Chain<Command> commands_;
  std::deque<std::move_only_function<void()>> work_;
  Instant now_;
  bool retired_ = false;
};

}  // namespace drover::client
