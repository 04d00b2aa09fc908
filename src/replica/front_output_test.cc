// SPDX-License-Identifier: Apache-2.0
//
// Unsent output of all connections together is limited: clients that do not read are closed, others stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "replica/testing.h"

namespace drover::replica {
namespace {

using namespace testing;
using wire::testing::path_type_body;
using wire::testing::path_watch_body;
using wire::testing::set_data_body;

constexpr std::size_t kTotal = 400'000;
constexpr std::size_t kNodeBytes = 20'000;

HarnessConfig small_total() {
  HarnessConfig config;
  config.front.output_high_water_bytes = 2 * kNodeBytes;
  config.front.output_total_max_bytes = kTotal;
  return config;
}

// A client with this address, with a session.
Client& join(std::deque<Client>& clients, Harness& h, const std::string& ip) {
  Client& c = clients.emplace_back(h, 0, ip);
  c.connect();
  return c;
}

void ask_for_a(Client& c, int times) {
  for (int i = 0; i < times; ++i) c.queue(OpCode::kGetData, path_watch_body("/a"));
  c.flush();
}

TEST(OutputOfAll, ClosesConnectionsOfTheAddressWithTheMostUnreadOutput) {
  Harness h(small_total());
  std::deque<Client> clients;
  Client& honest = join(clients, h, "10.0.0.1");
  honest.create("/a", {.data = std::string(kNodeBytes, 'x')});
  ask_for_a(honest, 2);  // It is slow, and holds more than any other by itself.
  std::deque<Client> strangers;
  for (int i = 0; i < 60; ++i) {
    ask_for_a(join(strangers, h, "10.0.0.2"), 1);
    h.settle();
    EXPECT_LE(h.front().output_bytes(), kTotal + 6 * kNodeBytes);
  }
  EXPECT_FALSE(honest.closed());
  EXPECT_EQ(honest.take().size(), 2u);
  const auto closed = std::ranges::count_if(strangers, [](const Client& c) { return c.closed(); });
  EXPECT_GT(closed, 40);
  EXPECT_EQ(h.front().totals().output_evictions, static_cast<std::uint64_t>(closed));
  EXPECT_EQ(h.front().stats().output_overflows, static_cast<std::uint64_t>(closed));
}

TEST(OutputOfAll, MayBeExceededByOneReplyWhoseClientIsReadingIt) {
  HarnessConfig config = small_total();
  config.front.output_total_max_bytes = kTotal / 2;
  Harness h(config);
  std::deque<Client> clients;
  Client& slow = join(clients, h, "10.0.0.1");
  slow.create("/a", {.data = std::string(kTotal, 'x')});
  slow.create("/b", {.data = std::string(1000, 'x')});
  Client& other = join(clients, h, "10.0.0.2");
  ask_for_a(slow, 1);
  // The first request may wait for the next round, which checks how much each connection holds.
  std::size_t answered = 0;
  for (int i = 0; i < 20; ++i) {
    other.queue(OpCode::kGetData, path_watch_body("/b"));
    other.flush();
    h.settle();
    other.flush();
    answered += other.take().size();
  }
  EXPECT_EQ(answered, 20u) << "others do not wait for it";
  EXPECT_EQ(slow.take().size(), 1u);
  EXPECT_EQ(h.front().totals().output_evictions, 0u);
}

TEST(OutputOfAll, ReadingResumesInTheNextRound) {
  Harness h(small_total());
  std::deque<Client> clients;
  join(clients, h, "10.0.0.1").create("/a", {.data = std::string(kNodeBytes, 'x')});
  for (int i = 0; i < 30; ++i) join(clients, h, "10.0.0." + std::to_string(i));
  // All ask in one round: some answers wait for the next one, and no client that reads is closed.
  for (Client& c : clients) ask_for_a(c, 1);
  EXPECT_LE(h.front().output_bytes(), kTotal + 2 * kNodeBytes);
  EXPECT_TRUE(h.front().has_resting());
  std::size_t answered = 0;
  for (int round = 0; round < 10; ++round) {
    for (Client& c : clients) answered += c.take().size();
    h.settle();
    for (Client& c : clients) c.flush();
  }
  EXPECT_EQ(answered, clients.size());
  EXPECT_EQ(h.front().totals().output_evictions, 0u);
  EXPECT_EQ(h.front().output_bytes(), 0u);
}

TEST(OutputOfAll, IsReleasedByClosedConnections) {
  Harness h(small_total());
  std::deque<Client> clients;
  join(clients, h, "10.0.0.1").create("/a", {.data = std::string(kNodeBytes, 'x')});
  ask_for_a(clients.front(), 1);
  EXPECT_GE(h.front().output_bytes(), kNodeBytes);
  clients.front().vanish();
  EXPECT_EQ(h.front().output_bytes(), 0u);
}

TEST(OutputOfAll, EventsOfOneBatchAreLimited) {
  HarnessConfig config;
  config.durable_at_once = false;
  config.front.staged_total_max_bytes = 50'000;
  config.front.output_high_water_bytes = 4'000;
  Harness h(config);
  std::deque<Client> clients;
  const auto next = [&]() -> Client& { return clients.emplace_back(connected_durably(h)); };
  Client& writer = next();
  for (const char* path : {"/a", "/quiet"}) writer.send(OpCode::kCreate, wire::testing::create_body(path));
  h.durable();
  writer.take();
  Client& calm = next();  // watches a node that changes once
  calm.ask(OpCode::kExists, path_watch_body("/quiet", true));
  for (int i = 0; i < 200; ++i) next().send(OpCode::kAddWatch, path_type_body("/", 1));
  h.durable();
  for (Client& c : clients) c.take();
  // In one batch.
  for (int i = 0; i < 500; ++i) writer.queue(OpCode::kSetData, set_data_body("/a", "x"));
  writer.queue(OpCode::kSetData, set_data_body("/quiet", "x"));
  writer.flush();
  h.durable();
  std::size_t all = 0;
  for (Client& c : clients) all += &c == &writer ? 0 : c.output().size();
  EXPECT_LE(all, 2 * config.front.staged_total_max_bytes);
  EXPECT_GT(h.front().totals().event_overflows, 100u);
  EXPECT_FALSE(calm.closed()) << "watchers of few nodes stay";
  EXPECT_FALSE(writer.closed());
}

}  // namespace
}  // namespace drover::replica
