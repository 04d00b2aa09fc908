// SPDX-License-Identifier: Apache-2.0
//
// One client, many threads, and connections that break meanwhile, for the thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "drover/testing.h"

namespace drover::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kThreads = 4;
constexpr int kWritesEach = 150;
constexpr int kCuts = 8;

class ClientThreads : public ::testing::TestWithParam<Callbacks> {};

// Each thread writes to its own node, whose version counts the successful writes.
struct Tally {
  int done = 0;
  int unknown = 0;
};

Tally write_often(const Client& client, const std::string& path) {
  Tally tally;
  for (int i = 0; i < kWritesEach; ++i) {
    const auto written =
        sync_wait(client.set(path, std::to_string(i), Version::kAny, Wait::within(seconds(20))));
    if (written) {
      ++tally.done;
    } else {
      EXPECT_EQ(written.error(), Errc::kConnectionLoss);
      tally.unknown += written.error().maybe_applied() ? 1 : 0;
    }
    const auto read = sync_wait(client.get(path, Wait::within(milliseconds(i % 7 == 0 ? 0 : 20'000))));
    if (!read && i % 7 != 0) {
      ADD_FAILURE() << read.error().to_text();
    }
  }
  return tally;
}

TEST_P(ClientThreads, ShareAConnectionThatBreaks) {
  const Server server = unwrap(Server::start());
  Proxy proxy = unwrap(Proxy::start(server.connect_string()));
  const Client client = unwrap(sync_wait(Client::connect(
      {.servers = proxy.connect_string(), .callbacks = GetParam()}, Wait::within(seconds(20)))));
  std::vector<std::string> paths;
  for (int i = 0; i < kThreads; ++i) {
    paths.push_back("/n" + std::to_string(i));
    unwrap(sync_wait(client.create(paths.back())));
  }
  std::vector<Tally> tallies(kThreads);
  std::atomic<int> running = kThreads;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      tallies[static_cast<std::size_t>(i)] = write_often(client, paths[static_cast<std::size_t>(i)]);
      --running;
    });
  }
  for (int cut = 0; cut < kCuts && running > 0; ++cut) {
    const std::uint64_t before = proxy.requests("set");
    while (running > 0 && proxy.requests("set") < before + 20) std::this_thread::yield();
    proxy.disconnect();
  }
  threads.clear();
  for (int i = 0; i < kThreads; ++i) {
    const auto node = unwrap(sync_wait(client.get(paths[static_cast<std::size_t>(i)])));
    const Tally& tally = tallies[static_cast<std::size_t>(i)];
    EXPECT_GE(raw(node.stat.version), tally.done);
    EXPECT_LE(raw(node.stat.version), tally.done + tally.unknown);
  }
}

std::string name_of(const ::testing::TestParamInfo<Callbacks>& info) {
  return info.param == Callbacks::kOwnThread ? "OwnThread" : "IoThread";
}
INSTANTIATE_TEST_SUITE_P(Executors, ClientThreads,
                         ::testing::Values(Callbacks::kOwnThread, Callbacks::kIoThread), name_of);

}  // namespace
}  // namespace drover::testing
