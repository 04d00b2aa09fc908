// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace drover::net {
namespace {

// A pipe whose read end is always readable, and the handler that watches it.
class ReadyPipe : public EventLoop::Handler {
 public:
  ReadyPipe() {
    int fds[2];
    EXPECT_EQ(::pipe(fds), 0);
    reader_ = Descriptor(fds[0]);
    writer_ = Descriptor(fds[1]);
    EXPECT_EQ(::write(writer_.fd(), "x", 1), 1);
  }
  void on_ready(std::uint32_t) override {
    ++calls;
    if (action) action();
  }
  int fd() const { return reader_.fd(); }

  int calls = 0;
  std::function<void()> action;

 private:
  Descriptor reader_;
  Descriptor writer_;
};

std::unique_ptr<EventLoop> make_loop() { return *EventLoop::create(); }

// The number of writes to eventfds of this process: the kernel shows the sum.
std::uint64_t eventfd_writes() {
  std::uint64_t sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    std::string key;
    while (file >> key) {
      if (key == "eventfd-count:" && file >> key) sum += std::stoull(key, nullptr, 16);
    }
  }
  return sum;
}

TEST(EventLoop, CallsTheHandlerOfAReadyDescriptorInEveryRoundUntilItIsRead) {
  auto loop = make_loop();
  ReadyPipe pipe;
  ASSERT_TRUE(loop->add(pipe.fd(), EPOLLIN, &pipe));
  EXPECT_EQ(loop->run_once(-1), 1);
  EXPECT_EQ(loop->run_once(-1), 1);
  loop->modify(pipe.fd(), 0, &pipe);
  EXPECT_EQ(loop->run_once(0), 0);
  EXPECT_EQ(pipe.calls, 2);
}

TEST(EventLoop, AHandlerDestroyedByAnotherInTheSameRoundIsNotCalled) {
  auto loop = make_loop();
  auto first = std::make_unique<ReadyPipe>();
  auto second = std::make_unique<ReadyPipe>();
  int calls = 0;
  const auto destroy = [&](std::unique_ptr<ReadyPipe>& victim) {
    ++calls;
    loop->remove(victim->fd(), victim.get());
    victim.reset();
  };
  first->action = [&] { destroy(second); };
  second->action = [&] { destroy(first); };
  ASSERT_TRUE(loop->add(first->fd(), EPOLLIN, first.get()));
  ASSERT_TRUE(loop->add(second->fd(), EPOLLIN, second.get()));
  EXPECT_EQ(loop->run_once(-1), 1);
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, AHandlerMayDestroyItself) {
  auto loop = make_loop();
  auto pipe = std::make_unique<ReadyPipe>();
  int calls = 0;
  pipe->action = [&] {
    ++calls;
    loop->remove(pipe->fd(), pipe.get());
    // The function object is destroyed with its owner: no captured variable may be used after this line.
    auto doomed = std::move(pipe->action);
    pipe.reset();
  };
  ASSERT_TRUE(loop->add(pipe->fd(), EPOLLIN, pipe.get()));
  EXPECT_EQ(loop->run_once(-1), 1);
  EXPECT_EQ(loop->run_once(0), 0);
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, AHandlerAddedAgainInTheSameRoundDoesNotInheritTheOldEvent) {
  auto loop = make_loop();
  ReadyPipe a, b;
  int calls = 0;
  const auto readd = [&](ReadyPipe& other) {
    ++calls;
    loop->remove(other.fd(), &other);
    ASSERT_TRUE(loop->add(other.fd(), 0, &other));
  };
  a.action = [&] { readd(b); };
  b.action = [&] { readd(a); };
  ASSERT_TRUE(loop->add(a.fd(), EPOLLIN, &a));
  ASSERT_TRUE(loop->add(b.fd(), EPOLLIN, &b));
  EXPECT_EQ(loop->run_once(-1), 1);
  EXPECT_EQ(calls, 1);
}

TEST(EventLoop, AWakeBeforeTheWaitIsNotLostAndNeedsNoSystemCall) {
  auto loop = make_loop();
  for (int i = 0; i < 1000; ++i) loop->wake();
  EXPECT_EQ(loop->run_once(-1), 0);  // Would wait forever if the wakes were lost.
  EXPECT_EQ(eventfd_writes(), 0u);
}

TEST(EventLoop, ManyWakesNeedAtMostOneSystemCallPerRound) {
  auto loop = make_loop();
  constexpr int kItems = 50'000;
  std::atomic<int> pushed{0};
  std::uint64_t rounds = 0;
  std::thread consumer([&] {
    while (pushed.load(std::memory_order_relaxed) < kItems) {
      loop->run_once(-1);
      ++rounds;
    }
  });
  for (int i = 0; i < kItems; ++i) {
    pushed.fetch_add(1, std::memory_order_relaxed);
    loop->wake();
  }
  consumer.join();
  EXPECT_LE(eventfd_writes(), rounds + 1);
}

TEST(EventLoop, StoresBeforeAWakeAreVisibleAfterTheRound) {
  // Nothing else synchronises the two threads: a missing barrier is a data race for the thread sanitizer.
  for (int i = 1; i <= 200; ++i) {
    auto loop = make_loop();
    int value = 0;
    std::thread other([&] {
      value = i;
      loop->wake();
    });
    loop->run_once(-1);
    EXPECT_EQ(value, i);
    other.join();
  }
}

TEST(EventLoop, NoWakeIsEverLost) {
  // Two loops take turns; a single lost wake would leave both asleep.
  auto ping = make_loop();
  auto pong = make_loop();
  constexpr int kTurns = 5'000;
  std::atomic<int> turn{0};
  const auto play = [&](EventLoop& mine, EventLoop& theirs, int parity) {
    for (int i = parity; i < kTurns; i += 2) {
      while (turn.load() != i) mine.run_once(-1);
      turn.store(i + 1);
      theirs.wake();
    }
  };
  std::thread other([&] { play(*pong, *ping, 1); });
  play(*ping, *pong, 0);
  other.join();
  EXPECT_EQ(turn.load(), kTurns);
}

EventLoop* signalled_loop = nullptr;

TEST(EventLoop, ASignalHandlerMayWakeAndTheWaitSurvivesEintr) {
  auto loop = make_loop();
  signalled_loop = loop.get();
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) { signalled_loop->wake(); };
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  ::raise(SIGUSR1);
  EXPECT_EQ(loop->run_once(-1), 0);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(EventLoop, TheTimeIsConstantWithinARoundUntilItIsRefreshed) {
  auto loop = make_loop();
  loop->run_once(0);
  const Instant start = loop->now();
  Instant later = start;
  while (later == start) {
    EXPECT_EQ(loop->now(), start);
    later = loop->refresh_now();
  }
  EXPECT_GT(later, start);
  EXPECT_EQ(loop->now(), later);
}

TEST(EventLoopDeathTest, RemovingAnUnwatchedDescriptorAborts) {
  auto loop = make_loop();
  ReadyPipe pipe;
  EXPECT_DEATH(loop->remove(pipe.fd(), &pipe), "only a watched descriptor is removed");
}

}  // namespace
}  // namespace drover::net
