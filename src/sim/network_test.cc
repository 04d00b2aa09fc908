// SPDX-License-Identifier: Apache-2.0
#include "sim/network.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace drover::sim {
namespace {

constexpr HostId kHere{1};
constexpr HostId kThere{2};

// Records what it hears.
class Listener final : public Network::Host {
 public:
  void on_accepted(SocketId s, Port, HostId) override { socket = s; }
  void on_connected(SocketId s) override { socket = s; }
  void on_dial_failed(SocketId) override { story += "refused"; }
  void on_bytes(SocketId, std::string_view bytes) override {
    story += bytes;
    ++pieces;
  }
  void on_closed(SocketId) override { story += '|'; }

  std::optional<SocketId> socket;
  std::string story;
  int pieces = 0;
};

class NetworkTest : public ::testing::Test {
 protected:
  NetworkTest() {
    network.attach(kHere, here, world.new_actor());
    network.attach(kThere, there, world.new_actor());
  }
  void connect() {
    dialled = network.dial(kHere, kThere, Port::kQuorum);
    world.run_until(world.now() + kSecond);
    ASSERT_TRUE(here.socket && there.socket);
  }
  void wait(Micros time = 10 * kSecond) { world.run_until(world.now() + time); }

  World world{5};
  Network network{world, {}};
  Listener here;
  Listener there;
  SocketId dialled{};
};

std::string sample_text() {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST_F(NetworkTest, BytesArriveCompleteAndInOrder) {
  network.plan().split_percent = 70;
  connect();
  const std::string text = sample_text();
  for (std::size_t i = 0; i < text.size(); i += 37)
    network.send(dialled, std::string_view(text).substr(i, 37));
  wait();
  EXPECT_EQ(there.story, text);
  EXPECT_GT(there.pieces, 2);
}

TEST_F(NetworkTest, RefusalConcernsNewConnectionsOfOneHost) {
  connect();
  network.set_refused(kHere, kThere, true);
  network.send(dialled, "old");
  network.dial(kHere, kThere, Port::kQuorum);
  network.dial(kThere, kHere, Port::kQuorum);
  wait();
  EXPECT_EQ(here.story, "refused");
  EXPECT_EQ(there.story, "old");
  network.set_refused(kHere, kThere, false);
  network.dial(kHere, kThere, Port::kQuorum);
  wait();
  EXPECT_EQ(here.story, "refused");
}

TEST_F(NetworkTest, BytesSentDuringACutArriveWhenItHeals) {
  connect();
  network.set_cut(kHere, kThere, true);
  network.send(dialled, "late");
  network.send(*there.socket, "this way is open");
  wait();
  EXPECT_EQ(there.story, "");
  EXPECT_EQ(here.story, "this way is open");
  network.heal();
  wait();
  EXPECT_EQ(there.story, "late");
}

TEST_F(NetworkTest, CloseArrivesAfterTheBytes) {
  connect();
  network.send(dialled, "farewell");
  network.close(dialled);
  network.send(dialled, "too late");
  wait();
  EXPECT_EQ(there.story, "farewell|");
  EXPECT_EQ(network.connections(), 0u);
}

TEST_F(NetworkTest, AResetDeliversAPrefixAndThenTheEnd) {
  connect();
  const std::string text = sample_text();
  network.send(dialled, text);
  Random random(3);
  ASSERT_TRUE(network.reset_any(random, Port::kQuorum));
  wait();
  if (there.story.ends_with('|')) there.story.pop_back();
  EXPECT_TRUE(text.starts_with(there.story));
}

TEST_F(NetworkTest, DyingProcessClosesItsConnectionsAndAPowerLossDoesNot) {
  connect();
  network.detach(kHere, Farewell::kReset);
  wait();
  EXPECT_EQ(there.story, "|");

  network.attach(kHere, here, world.new_actor());
  here = Listener();
  there = Listener();
  connect();
  network.detach(kHere, Farewell::kSilent);
  network.send(*there.socket, "is anybody there?");
  wait();
  EXPECT_EQ(there.story, "");
}

TEST_F(NetworkTest, RestartedMachineResetsItsOldConnections) {
  connect();
  network.detach(kHere, Farewell::kSilent);
  network.attach(kHere, here, world.new_actor());
  network.send(*there.socket, "do you remember me?");
  wait();
  EXPECT_EQ(there.story, "|");
  EXPECT_EQ(here.story, "");
}

TEST_F(NetworkTest, ConnectWithoutAListenerOrARouteFails) {
  network.detach(kThere, Farewell::kReset);
  network.dial(kHere, kThere, Port::kClient);
  wait();
  EXPECT_EQ(here.story, "refused");

  network.attach(kThere, there, world.new_actor());
  network.set_cut(kThere, kHere, true);
  network.dial(kHere, kThere, Port::kClient);
  wait();
  EXPECT_EQ(here.story, "refusedrefused") << "the answer was lost";
}

TEST_F(NetworkTest, IsolatedHostReceivesNothingAndOthersSeeItsConnectionsEnd) {
  connect();
  network.leave_in_the_dark(kHere);
  network.set_cut(kHere, kThere, true);
  network.set_cut(kThere, kHere, true);
  wait();
  EXPECT_EQ(there.story, "|");
  network.send(dialled, "is anybody there?");
  network.heal();
  wait();
  EXPECT_EQ(here.story, "");
  EXPECT_EQ(there.story, "|");
}

}  // namespace
}  // namespace drover::sim
