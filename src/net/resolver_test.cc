// SPDX-License-Identifier: Apache-2.0
#include "net/resolver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "net/peer_test_support.h"

namespace drover::net {
namespace {

using testing::World;

// A name service with answers from the test.
class NameService {
 public:
  Resolver::Lookup lookup() {
    return [state = state_](const std::string& host, std::uint16_t) -> Resolver::Addresses {
      ++state->lookups;
      if (host == "slow") state->release.get_future().wait();
      const std::lock_guard lock(state->mutex);
      if (state->ip.empty()) return std::unexpected(data_error("no such host: " + host));
      return std::vector<Address>{*Address::parse(state->ip, 0)};
    };
  }
  void answer_with(std::string ip) {
    const std::lock_guard lock(state_->mutex);
    state_->ip = std::move(ip);
  }
  void release_slow() { state_->release.set_value(); }
  int lookups() const { return state_->lookups; }

 private:
  // The lookup threads may outlive the test.
  struct State {
    std::mutex mutex;
    std::string ip = "127.0.0.1";
    std::promise<void> release;
    std::atomic<int> lookups = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

struct Answer {
  Resolver::Done done() {
    return [this](Resolver::Addresses got) { result = std::move(got); };
  }
  bool came() const { return result.has_value(); }
  std::string text() const {
    return !result ? "none" : !*result ? result->error().what : (*result)->front().to_text();
  }
  std::optional<Resolver::Addresses> result;
};

TEST(Endpoint, IsWrittenWithBracketsAroundIpv6) {
  EXPECT_EQ(to_text(Endpoint{"zk1", 3888}), "zk1:3888");
  EXPECT_EQ(to_text(Endpoint{"::1", 3888}), "[::1]:3888");
  EXPECT_EQ(to_text(Endpoint{"", 3888}), "0.0.0.0:3888");
}

TEST(Resolver, AnswersFromTheLoopWithTheRequestedPort) {
  NameService names;
  World world(names.lookup());
  Answer first;
  Answer second;
  world.resolver().ask({"slow", 2888}, first.done());
  world.resolver().ask({"slow", 3888}, second.done());
  EXPECT_FALSE(first.came());
  names.release_slow();
  ASSERT_TRUE(world.until([&] { return first.came() && second.came(); }));
  EXPECT_EQ(first.text(), "/127.0.0.1:2888");
  EXPECT_EQ(second.text(), "/127.0.0.1:3888");
  EXPECT_EQ(names.lookups(), 1) << "one question at a time for each host";
}

TEST(Resolver, ASlowLookupDoesNotDelayOthers) {
  NameService names;
  World world(names.lookup());
  Answer slow;
  Answer fast;
  world.resolver().ask({"slow", 1}, slow.done());
  world.resolver().ask({"fast", 1}, fast.done());
  ASSERT_TRUE(world.until([&] { return fast.came(); }));
  EXPECT_FALSE(slow.came());
  names.release_slow();
  EXPECT_TRUE(world.until([&] { return slow.came(); }));
}

TEST(Resolver, AFailureIsReported) {
  NameService names;
  names.answer_with("");
  World world(names.lookup());
  Answer answer;
  world.resolver().ask({"zk1", 1}, answer.done());
  ASSERT_TRUE(world.until([&] { return answer.came(); }));
  EXPECT_EQ(answer.text(), "no such host: zk1");
}

TEST(Resolver, KnownAddressesSurviveAFailureOfDnsAndAreRenewedLater) {
  NameService names;
  World world(names.lookup());
  const auto ask = [&] {
    Answer answer;
    world.resolver().ask({"zk1", 1}, answer.done());
    EXPECT_TRUE(world.until([&] { return answer.came(); }));
    return answer.text();
  };
  EXPECT_EQ(ask(), "/127.0.0.1:1");
  names.answer_with("");
  const int before = names.lookups();
  while (names.lookups() < before + 3) ASSERT_EQ(ask(), "/127.0.0.1:1");

  names.answer_with("127.0.0.2");
  const Instant deadline = world.loop().now() + testing::kPatienceMs;
  while (world.loop().now() < deadline && ask() != "/127.0.0.2:1") {
  }
  EXPECT_EQ(ask(), "/127.0.0.2:1");
}

TEST(Resolver, ACancelledLookupIsNotAnswered) {
  NameService names;
  World world(names.lookup());
  Answer cancelled;
  Answer other;
  world.resolver().cancel(world.resolver().ask({"zk1", 1}, cancelled.done()));
  world.resolver().ask({"zk1", 2}, other.done());
  ASSERT_TRUE(world.until([&] { return other.came(); }));
  EXPECT_FALSE(cancelled.came());
}

TEST(Resolver, ACallbackMayStartAndCancelLookups) {
  NameService names;
  World world(names.lookup());
  Answer again;
  Answer cancelled;
  Resolver::Ticket ticket{};
  world.resolver().ask({"zk1", 1}, [&](const Resolver::Addresses&) {
    world.resolver().cancel(ticket);
    world.resolver().ask({"zk1", 3}, again.done());
  });
  ticket = world.resolver().ask({"zk1", 2}, cancelled.done());
  ASSERT_TRUE(world.until([&] { return again.came(); }));
  EXPECT_FALSE(cancelled.came());
}

TEST(Resolver, MayBeDestroyedDuringALookup) {
  NameService names;
  {
    World world(names.lookup());
    Answer slow;
    world.resolver().ask({"slow", 1}, slow.done());
  }
  names.release_slow();
}

}  // namespace
}  // namespace drover::net
