// SPDX-License-Identifier: Apache-2.0
//
// Moves an amount from one node to another, safely under concurrent changes.
//
//   example_stm 127.0.0.1:2181
#include "drover/recipes/stm.h"

#include <iostream>

using namespace std::chrono_literals;
using drover::Result;
using drover::Task;
using drover::recipes::Stm;

namespace {

Task<Result<void>> move_ten(Stm::Transaction& t) {
  auto reading = t.get("/example-a");
  const auto a = co_await std::move(reading);
  if (!a) co_return std::unexpected(a.error());
  auto also = t.get("/example-b");
  const auto b = co_await std::move(also);
  if (!b) co_return std::unexpected(b.error());
  t.set("/example-a", std::to_string(std::stoi(a->value_or("0")) - 10));
  t.set("/example-b", std::to_string(std::stoi(b->value_or("0")) + 10));
  co_return Result<void>{};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_stm <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const Stm stm(client);
  for (int i = 0; i < 3; ++i) unwrap(sync_wait(stm.run(move_ten, wait)));
  for (const char* path : {"/example-a", "/example-b"}) {
    std::cout << path << " has " << unwrap(sync_wait(client.get(path, wait))).data << '\n';
    unwrap(sync_wait(client.remove(path, drover::Version::kAny, wait)));
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
