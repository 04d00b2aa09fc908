// SPDX-License-Identifier: Apache-2.0
//
// `drover bench`: puts load on a server and measures latencies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace drover::cli {

int run_bench(const std::vector<std::string>& arguments);

inline constexpr std::string_view kBenchHelp =
    R"(drover bench: load on any server that speaks ZooKeeper's protocol

usage: drover bench [get|set|create|mixed|lock|watch] [options]
       drover bench clean [options]          remove what a load that was killed has left

  get, set, mixed        of nodes chosen at random; mixed reads --reads percent (90)
  create                 new nodes, in a directory for each session
  lock                   sessions contend for --keys locks (1); counted: from asking until it is held
  watch                  one session writes a node, all others watch it; counted: from the write to each event

  --sessions N           (8)          --in-flight N     requests of each session at a time (16)
  --size BYTES           (100)        --keys N          nodes (1000)
  --seconds S            (10)         --warm-up S       not counted (1)
  --rate N               so many requests in a second, all sessions together, sent when they are due. Latencies are
                         counted from then, so that what a request had to wait for others is seen
  --json                 the result as one JSON object
  -server HOST:PORT,...  127.0.0.1:2181        -timeout MS   of the sessions (30000)
  --auth SCHEME:TEXT     digest:user:password
  -client-configuration FILE   zookeeper.client.secure=true and the zookeeper.ssl.* stores: TLS

Everything is made below /drover-bench-<random> and removed in the end, also after Ctrl-C. Each session has a thread.
Exit codes: 0, 1 it failed or nothing was answered, 2 wrong usage. More: docs/observing.md.
)";

}  // namespace drover::cli
