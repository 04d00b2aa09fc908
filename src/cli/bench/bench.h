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
    R"(drover bench: puts load on a server that speaks ZooKeeper's protocol

usage: drover bench [get|set|create|mixed|lock|watch] [options]
       drover bench clean [options]          remove what a killed run has left

  get, set, mixed        random nodes; mixed reads --reads percent (90)
  create                 new nodes, in one directory per session
  lock                   sessions contend for --keys locks (1); measures from asking until it is held
  watch                  one session writes a node, all others watch it; measures from write to event

  --sessions N           (8)          --in-flight N     concurrent requests per session (16)
  --size BYTES           (100)        --keys N          nodes (1000)
  --seconds S            (10)         --warm-up S       not counted (1)
  --rate N               send N requests per second in total, whether earlier ones were answered or not. Latencies
                         count from when a request was due, so that waiting is included
  --json                 print the result as one JSON object
  -server HOST:PORT,...  127.0.0.1:2181        -timeout MS   session timeout (30000)
  --auth SCHEME:TEXT     digest:user:password
  -client-configuration FILE   zookeeper.client.secure=true and the zookeeper.ssl.* stores: TLS
  --sasl-user NAME [--sasl-password-file FILE], --kerberos, --keytab FILE --principal NAME   log in with SASL

All nodes are below /drover-bench-<random> and are removed at the end, also after Ctrl-C. Each session has a thread.
Exit codes: 0 success, 1 failure or no replies, 2 wrong usage. More: docs/observing.md.
)";

}  // namespace drover::cli
