// SPDX-License-Identifier: Apache-2.0
//
// Recipes on a real server, through a proxy that drops chosen messages. The simulator tries every step
// (src/recipes/*/*_test.cc); here the same must hold with real sockets, threads and time, on both kinds of
// server. SERVER=host:port names it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "drover/recipes/atomic_value.h"
#include "drover/recipes/double_barrier.h"
#include "drover/recipes/mutex.h"
#include "drover/recipes/queue.h"
#include "drover/recipes/semaphore.h"
#include "drover/recipes/simple_lock.h"
#include "drover/recipes/tree_cache.h"
#include "drover/testing.h"

namespace drover::recipes {
namespace {

using std::chrono::seconds;

std::string server() {
  const char* address = std::getenv("SERVER");
  return address != nullptr ? address : "127.0.0.1:2181";
}

Wait patience() { return Wait::within(seconds(60)); }

Client connect(const std::string& servers) {
  return unwrap(sync_wait(Client::connect({.servers = servers, .session_timeout = seconds(8)}, patience())));
}

// The message of the unlucky client that is lost.
struct Loss {
  std::string op;
  int nth = 1;
  bool of_request = false;
};

class Faults : public ::testing::TestWithParam<Loss> {
 protected:
  Faults()
      : proxy(unwrap(testing::Proxy::start(server()))),
        unlucky(connect(proxy.connect_string())),
        other(connect(server())),
        root(unwrap(sync_wait(other.create_protected("/faults", "", {}, patience()))).path) {}

  void strike() {
    const Loss& loss = GetParam();
    if (loss.of_request) {
      proxy.lose_request(loss.op, loss.nth);
    } else {
      proxy.lose_reply(loss.op, loss.nth);
    }
  }
  // True once the path has no children. Background work may still hold some at first.
  bool becomes_empty(const std::string& path) const {
    const auto until = Clock::now() + seconds(30);
    for (;;) {
      const auto children = sync_wait(other.children(path, patience()));
      if (!children ? children.error() == Errc::kNoNode : children->names.empty()) return true;
      if (Clock::now() > until) return false;
      std::this_thread::yield();
    }
  }

  testing::Proxy proxy;
  Client unlucky;
  Client other;
  std::string root;
};

INSTANTIATE_TEST_SUITE_P(Lost, Faults,
                         ::testing::Values(Loss{"create"}, Loss{"create", 2}, Loss{"delete"},
                                           Loss{"delete", 2}, Loss{"set"}, Loss{"set", 2}, Loss{"multi"},
                                           Loss{"multi", 2}, Loss{"children"}, Loss{"get"},
                                           Loss{"create", 1, true}, Loss{"delete", 1, true},
                                           Loss{"multi", 1, true}),
                         [](const auto& loss) {
                           return (loss.param.of_request ? "request_" : "answer_") +
                                  std::to_string(loss.param.nth) + "_" + loss.param.op;
                         });

TEST_P(Faults, AMutexHasOneHolderAndLeavesNoNodes) {
  std::atomic<int> inside = 0;
  const auto contend = [&](const Client& client) {
    for (int i = 0; i < 5; ++i) {
      Guard guard = unwrap(sync_wait(Mutex(client, root + "/lock").acquire(patience())));
      EXPECT_EQ(++inside, 1);
      --inside;
      unwrap(sync_wait(guard.release(patience())));
    }
  };
  strike();
  {
    const std::jthread one([&] { contend(unlucky); });
    const std::jthread two([&] { contend(other); });
  }
  EXPECT_TRUE(becomes_empty(root + "/lock"));
}

TEST_P(Faults, ASemaphoreLeavesNoLeases) {
  strike();
  for (int i = 0; i < 3; ++i) {
    Guard guard = unwrap(sync_wait(Semaphore(unlucky, root + "/leases", 1).acquire(patience())));
    unwrap(sync_wait(guard.release(patience())));
  }
  Guard last = unwrap(sync_wait(Semaphore(other, root + "/leases", 1).acquire(patience())));
  unwrap(sync_wait(last.release(patience())));
  EXPECT_TRUE(becomes_empty(root + "/leases/leases"));
}

TEST_P(Faults, AQueueDeliversEveryItemOnce) {
  const Queue unlucky_end(unlucky, root + "/queue", {.layout = QueueLayout::kNative});
  const Queue other_end(other, root + "/queue", {.layout = QueueLayout::kNative});
  std::multiset<std::string> put;
  std::multiset<std::string> taken;
  strike();
  for (int i = 0; i < 4; ++i) {
    put.insert(std::to_string(i));
    unwrap(sync_wait(unlucky_end.put(std::to_string(i), patience())));
  }
  for (int i = 4; i < 8; ++i) {
    put.insert(std::to_string(i));
    unwrap(sync_wait(other_end.put(std::to_string(i), patience())));
  }
  while (taken.size() < put.size()) {
    QueueItem item = unwrap(sync_wait(unlucky_end.take(patience())));
    const auto done = sync_wait(item.done(patience()));
    // An item with an unknown outcome comes again; a completed one does not.
    if (done)
      taken.insert(item.data());
    else
      EXPECT_TRUE(done.error() == Errc::kLockLost) << done.error().to_text();
  }
  EXPECT_EQ(taken, put);
  EXPECT_TRUE(becomes_empty(root + "/queue"));
}

TEST_P(Faults, AnExactlyOnceCounterCountsOnce) {
  const AtomicLong counter(unlucky, root + "/counter", {.exactly_once = true});
  strike();
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(unwrap(sync_wait(counter.add(1, patience()))), i);
  EXPECT_EQ(unwrap(sync_wait(AtomicLong(other, root + "/counter").get(patience()))), 5);
}

TEST_P(Faults, ADoubleBarrierIsEnteredAndLeftTogether) {
  strike();
  for (int round = 0; round < 2; ++round) {
    DoubleBarrier mine(unlucky, root + "/phase", {.parties = 2});
    DoubleBarrier theirs(other, root + "/phase", {.parties = 2});
    {
      const std::jthread one([&] { unwrap(sync_wait(mine.enter(patience()))); });
      unwrap(sync_wait(theirs.enter(patience())));
    }
    const std::jthread one([&] { unwrap(sync_wait(mine.leave(patience()))); });
    unwrap(sync_wait(theirs.leave(patience())));
  }
  EXPECT_TRUE(becomes_empty(root + "/phase"));
}

TEST_P(Faults, ASimpleLockNeverRemovesTheNodeOfTheNextHolder) {
  const SimpleLock mine(unlucky, root + "/simple");
  const SimpleLock theirs(other, root + "/simple");
  Guard guard = unwrap(sync_wait(mine.acquire(patience())));
  strike();
  auto waiting = std::jthread([&] {
    Guard next = unwrap(sync_wait(theirs.acquire(patience())));
    // The node must stay, however late the clean-up of the first holder comes.
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(unwrap(sync_wait(other.exists(root + "/simple", patience()))));
    EXPECT_TRUE(next.is_held());
    unwrap(sync_wait(next.release(patience())));
  });
  unwrap(sync_wait(guard.release(patience())));
  waiting.join();
}

TEST_P(Faults, ATreeCacheConvergesToTheServersTree) {
  TreeCache cache(unlucky, root);
  strike();
  unwrap(sync_wait(cache.start(patience())));
  for (int i = 0; i < 5; ++i) {
    unwrap(sync_wait(other.create(root + "/" + std::to_string(i), std::to_string(i), {}, patience())));
  }
  proxy.disconnect();
  unwrap(sync_wait(other.remove(root + "/0", Version::kAny, patience())));
  unwrap(sync_wait(other.set(root + "/1", "changed", Version::kAny, patience())));
  const auto until = Clock::now() + seconds(30);
  const auto is_level = [&] {
    const auto changed = cache.find(root + "/1");
    return cache.size() == 5 && changed && changed->data == "changed" && !cache.find(root + "/0");
  };
  while (!is_level() && Clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(is_level());
}

// --- expired sessions ---

class Sessions : public ::testing::Test {
 protected:
  Client one = connect(server());
  Client two = connect(server());
  std::string root = unwrap(sync_wait(two.create_protected("/sessions", "", {}, patience()))).path;
};

TEST_F(Sessions, AHolderWhoseSessionIsKilledNoticesBeforeItWritesAgain) {
  Guard guard = unwrap(sync_wait(Mutex(one, root + "/lock").acquire(patience())));
  std::vector<Op> ops;
  ops.push_back(guard.check_op());
  ops.push_back(Op::set(root, "written without the lock"));
  unwrap(testing::kill_session(one, server()));
  Guard next = unwrap(sync_wait(Mutex(two, root + "/lock").acquire(patience())));
  EXPECT_GT(next.fence(), guard.fence());
  EXPECT_FALSE(sync_wait(one.multi(std::move(ops), patience())));
  const auto until = Clock::now() + seconds(30);
  while (!guard.lost().stop_requested() && Clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(guard.lost().stop_requested());
  EXPECT_TRUE(next.is_held());
}

TEST_F(Sessions, AWaiterWhoseSessionIsKilledQueuesAgain) {
  Guard guard = unwrap(sync_wait(Mutex(one, root + "/lock").acquire(patience())));
  std::atomic<bool> held = false;
  const Client three = connect(server());
  const std::jthread waiting([&] {
    Guard mine = unwrap(sync_wait(Mutex(three, root + "/lock").acquire(patience())));
    held = true;
    unwrap(sync_wait(mine.release(patience())));
  });
  const auto in_line = [&] {
    return unwrap(sync_wait(two.children(root + "/lock", patience()))).names.size();
  };
  while (in_line() < 2) std::this_thread::yield();
  unwrap(testing::kill_session(three, server()));
  EXPECT_FALSE(held);
  unwrap(sync_wait(guard.release(patience())));
}

TEST_F(Sessions, AnItemOfADeadConsumerIsDeliveredToAnother) {
  const Queue first(one, root + "/queue");
  const Queue second(two, root + "/queue");
  unwrap(sync_wait(second.put("work", patience())));
  QueueItem item = unwrap(sync_wait(first.take(patience())));
  EXPECT_EQ(item.data(), "work");
  unwrap(testing::kill_session(one, server()));
  QueueItem again = unwrap(sync_wait(second.take(patience())));
  EXPECT_EQ(again.data(), "work");
  EXPECT_EQ(sync_wait(item.done(patience())).error(), Errc::kLockLost);
  unwrap(sync_wait(again.done(patience())));
  EXPECT_EQ(unwrap(sync_wait(second.size(patience()))), 0);
}

}  // namespace
}  // namespace drover::recipes
