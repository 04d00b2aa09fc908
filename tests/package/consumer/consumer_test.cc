// SPDX-License-Identifier: Apache-2.0
//
// A test as a user would write it: a server, a client, and an answer that is lost on its way.
#include <drover/testing.h>

int main() {
  auto server = unwrap(drover::testing::Server::start());
  auto proxy = unwrap(drover::testing::Proxy::start(server.connect_string()));
  const auto client = unwrap(sync_wait(drover::Client::connect({.servers = proxy.connect_string()})));
  proxy.lose_reply("create");
  const auto created = sync_wait(client.create("/once"));
  const bool is_there = unwrap(sync_wait(client.exists("/once"))).has_value();
  return !created && created.error().maybe_applied() && is_there ? 0 : 1;
}
