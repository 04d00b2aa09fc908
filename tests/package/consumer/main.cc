// SPDX-License-Identifier: Apache-2.0
//
// A program outside the tree: connects, writes, reads back. Exit code 0 when what it read is what it wrote.
#include <drover/client.h>

#include <chrono>
#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s SERVERS\n", argv[0]);
    return 2;
  }
  using std::chrono::seconds;
  auto client = sync_wait(drover::Client::connect({.servers = argv[1]}, drover::Wait::within(seconds(20))));
  if (!client) {
    std::fprintf(stderr, "%s\n", client.error().to_text().c_str());
    return 1;
  }
  const auto made =
      sync_wait(client->create("/consumer-", "hello", {.mode = drover::CreateMode::kEphemeralSequential}));
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().to_text().c_str());
    return 1;
  }
  const auto node = sync_wait(client->get(made->path));
  if (!node || node->data != "hello") return 1;
  std::printf("%s holds %s\n", made->path.c_str(), node->data.c_str());
  return sync_wait(client->close()) ? 0 : 1;
}
