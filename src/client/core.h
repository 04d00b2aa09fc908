// SPDX-License-Identifier: Apache-2.0
//
// State shared by all handles of one client, and how coroutines wait for calls.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/random.h"
#include "client/call.h"
#include "client/driver.h"
#include "client/engine.h"
#include "client/strand.h"
#include "drover/retry.h"
#include "drover/wait.h"

namespace drover::client {

// Time to close a session after its last handle is destroyed.
inline constexpr std::int64_t kFarewellMs = 2000;

// Lives as long as something waits; the session ends earlier (Client::Handle).
class ClientCore : public std::enable_shared_from_this<ClientCore> {
 public:
  struct Parts {
    std::shared_ptr<Strand> strand;
    std::shared_ptr<Driver> driver;
    std::shared_ptr<Board> board;
    RetryPolicy retry;
    std::uint64_t seed = 0;
    std::uint64_t name_seed = 0;
    std::string chroot = {};
  };
  explicit ClientCore(Parts parts)
      : parts_(std::move(parts)), random_(parts_.seed), names_(parts_.name_seed) {}
  ~ClientCore() { parts_.driver->retire(); }
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;

  Strand& strand() const { return *parts_.strand; }
  Board& board() const { return *parts_.board; }
  const RetryPolicy& retry() const { return parts_.retry; }
  const std::string& chroot() const { return parts_.chroot; }
  std::uint64_t random() { return random_.fetch_add(0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull >> 7; }

  // A random UUID of 36 characters. Call it on the executor.
  std::string new_uuid();

  void submit(const std::shared_ptr<Call>& call) {
    call->executor_holds = call;
    parts_.driver->post(call.get());
  }
  // Runs a function (engine, now) on the engine.
  template <class Work>
  void command(Work work) {
    struct Posted final : Command {
      explicit Posted(Work w) : work(std::move(w)) {}
      void run(Engine& engine, Instant now) override {
        work(engine, now);
        delete this;
      }
      void discard() override { delete this; }
      Work work;
    };
    parts_.driver->post(new Posted(std::move(work)));
  }

 private:
  Parts parts_;
  std::atomic<std::uint64_t> random_;
  Random names_;
};

inline Instant to_instant(Clock::time_point at) {
  if (at == Clock::time_point::max()) return kNever;
  return {std::chrono::ceil<std::chrono::milliseconds>(at.time_since_epoch()).count()};
}

// co_await of a call: resumes on the executor when the call has ended. If the coroutine is destroyed before,
// also on the executor, the call is abandoned.
class CallAwaiter {
 public:
  CallAwaiter(std::shared_ptr<ClientCore> core, std::shared_ptr<Call> call, std::stop_token stop)
      : core_(std::move(core)), call_(std::move(call)), stop_(std::move(stop)) {}
  CallAwaiter(const CallAwaiter&) = delete;
  CallAwaiter& operator=(const CallAwaiter&) = delete;
  ~CallAwaiter() {
    if (!suspended_ || !call_->waiting) return;
    call_->waiting = nullptr;
    core_->command([call = call_](Engine& engine, Instant) { engine.abandon(call); });
  }

  bool await_ready() const noexcept { return false; }
  // After the call is posted, the coroutine may already be destroyed.
  void await_suspend(std::coroutine_handle<> waiting) {
    suspended_ = true;
    call_->waiting = waiting;
    const auto core = core_;
    const auto call = call_;
    if (stop_.stop_possible()) on_stop_.emplace(stop_, Stop{core, call});
    core->submit(call);
  }
  void await_resume() noexcept { on_stop_.reset(); }

 private:
  struct Stop {
    std::shared_ptr<ClientCore> core;
    std::shared_ptr<Call> call;
    // Runs on the thread that requests the stop, perhaps before the call is posted.
    void operator()() const {
      core->command([call = call](Engine& engine, Instant now) { engine.cancel(call, Errc::kStopped, now); });
    }
  };

  std::shared_ptr<ClientCore> core_;
  std::shared_ptr<Call> call_;
  std::stop_token stop_;
  bool suspended_ = false;
  std::optional<std::stop_callback<Stop>> on_stop_;
};

}  // namespace drover::client
