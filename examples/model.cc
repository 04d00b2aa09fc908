// SPDX-License-Identifier: Apache-2.0
//
// Typed nodes, and a schema that validates writes.
//
//   example_model 127.0.0.1:2181
#include "drover/recipes/model.h"

#include <iostream>

using namespace std::chrono_literals;
using namespace drover::recipes;
using drover::Op;

int main(int argc, char** argv) try {
  if (argc != 2) throw std::runtime_error("usage: example_model <servers>");
  const auto wait = drover::Wait::within(10s);
  drover::Client client = unwrap(sync_wait(drover::Client::connect({.servers = argv[1]}, wait)));

  const Model<std::int64_t> sizes(client, "/example-sizes", big_endian_codec<std::int64_t>());
  unwrap(sync_wait(sizes.at("disk").set(500, drover::Version::kAny, wait)));
  const auto disk = unwrap(sync_wait(sizes.at("disk").get(wait)));
  std::cout << sizes.at("disk").path() << " is " << disk->value << '\n';

  const Schema schema({{.path = "/example-sizes/*", .validate = [](auto data) { return data.size() == 8; }}});
  const auto checked = schema.check(Op::set("/example-sizes/disk", "much"));
  std::cout << checked.error().to_text() << '\n';
  unwrap(sync_wait(sizes.at("disk").remove(disk->version, wait)));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
