// SPDX-License-Identifier: Apache-2.0
//
// A program outside the tree that logs in, to a server that has no logins. Exit code 0 when it is told so.
#include <drover/client.h>
#include <drover/sasl.h>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  drover::Options options{.servers = argv[1]};
  options.sasl = unwrap(drover::sasl_password("bob", "secret"));
  const auto client =
      sync_wait(drover::Client::connect(options, drover::Wait::within(std::chrono::seconds(20))));
  if (client) return 1;
  std::printf("%s\n", client.error().to_text().c_str());
  return client.error().code == drover::Errc::kAuthFailed ? 0 : 1;
}
